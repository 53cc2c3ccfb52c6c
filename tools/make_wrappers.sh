#!/bin/sh
# Writes bin/python3.11, ... and bin/python: the virtual environments' interpreters with a build tree on their path.
#
# usage: make_wrappers.sh FOLDER VENVS "VERSIONS" "NAME=value ..."
# FOLDER/py is put on PYTHONPATH.  With -c and -m, PYTHONSAFEPATH keeps the current folder off it: in the repository's
# root the folder krait/, which has no compiled module in it, would be found first.  Scripts keep their own folder.
set -eu
folder=$1 venvs=$2 versions=$3 environment=$4
mkdir -p "$folder/bin"
first=
for version in $versions; do
    cat > "$folder/bin/python$version" <<END
#!/bin/sh
case "\${1-}" in *.py) ;; *) export PYTHONSAFEPATH=1 ;; esac
exec env PYTHONPATH=$folder/py $environment $venvs/$version/bin/python "\$@"
END
    chmod +x "$folder/bin/python$version"
    first=${first:-python$version}
done
ln -sfn "$first" "$folder/bin/python"
