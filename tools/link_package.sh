#!/bin/sh
# Mirrors a Python package as symbolic links beside the extension built for it, so that edits are seen at once.
#
# usage: link_package.sh SOURCE TARGET
# Every file of SOURCE gets a link in TARGET; links to files that are gone are removed; other files are left alone.
set -eu
source=$(cd "$1" && pwd) target=$2
mkdir -p "$target"
find "$target" -xtype l -delete
cd "$source"
find . -name __pycache__ -prune -o -type f ! -name '*.so' -print | while read -r file; do
    mkdir -p "$target/$(dirname "$file")"
    ln -sfn "$source/$file" "$target/$file"
done
