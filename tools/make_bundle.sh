#!/bin/sh
# Packs Krait with tests, examples and benchmarks for a machine where nothing can be installed.
#
# usage: make_bundle.sh VERSION FOLDER PART ...
#   PART   wheel: unpacked          folder krait/ of a build tree: copied, links followed
#          _testing*.so: the test doors, which no wheel has          lib*.so: a sanitizer's library, loaded first
# Environment: SANITIZER_OPTIONS (NAME=value ..., set where the tests run).
# Output: FOLDER/krait-<tag>.tar.gz, at most 25 MB (with sanitizers 60), and FOLDER/run_bundle.sh, which unpacks it and
# runs what is in it.
set -eu
version=$1 folder=$2
shift 2
limit=25000000 what=test-gpu
root=$(cd "$(dirname "$0")/.." && pwd)
name=krait-cp$(echo "$version" | tr -d .)
stage=$folder/$name
rm -rf "$stage"
mkdir -p "$stage/site/krait"
for part in "$@"; do
    case $part in
    *.whl) python3 -m zipfile -e "$part" "$stage/site" ;;
    */lib*.so)
        limit=60000000 what="test -o timeout=300"
        mkdir -p "$stage/sanitizers"
        cp -L "$part" "$stage/sanitizers/"
        echo "${SANITIZER_OPTIONS-}" > "$stage/sanitizers/options"
        ;;
    *.so) cp "$part" "$stage/site/krait/" ;;
    *) cp -RL "$part" "$stage/site/" ;;
    esac
done
chmod +x "$stage"/site/krait/*.so
for part in tests examples benchmarks pyproject.toml LICENSE README.md; do
    [ ! -e "$root/$part" ] || cp -R "$root/$part" "$stage/"
done
find "$stage" -name __pycache__ -prune -exec rm -rf {} +
rm -rf "$stage/benchmarks/results"
echo "$version" > "$stage/PYTHON_VERSION"
tar -C "$folder" -czf "$folder/$name.tar.gz" "$name"
rm -rf "$stage"
cp "$root/tools/run_bundle.sh" "$folder/"
size=$(wc -c < "$folder/$name.tar.gz")
if [ "$size" -gt $limit ]; then
    echo "$folder/$name.tar.gz has $size bytes, more than $limit" >&2
    exit 1
fi
echo "$folder/$name.tar.gz: $((size / 1000)) kB"
echo "on the other machine: sh run_bundle.sh $name.tar.gz $what"
