#!/bin/sh
# Packs one wheel, unpacked, with the test doors, tests, examples and benchmarks, for a machine where nothing can be
# installed.
#
# usage: make_bundle.sh VERSION WHEEL DOORS FOLDER      DOORS: krait/_testing*.so, which the wheel does not have
# Output: FOLDER/krait-<tag>.tar.gz, at most 25 MB, and FOLDER/run_bundle.sh, which unpacks it and runs what is in it.
set -eu
version=$1 wheel=$2 doors=$3 folder=$4
limit=25000000
root=$(cd "$(dirname "$0")/.." && pwd)
name=krait-cp$(echo "$version" | tr -d .)
stage=$folder/$name
rm -rf "$stage"
mkdir -p "$stage/site"
python3 -m zipfile -e "$wheel" "$stage/site"
cp "$doors" "$stage/site/krait/"
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
echo "on the other machine: sh run_bundle.sh $name.tar.gz test-gpu"
