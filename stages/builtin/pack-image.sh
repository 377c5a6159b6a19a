#!/bin/sh
# Packs a root file system as the archive of an image, as `docker save` would write it, without any daemon.
#
#   stages/builtin/pack-image.sh ROOT NAME COMMAND FILE
#
# COMMAND is a list of JSON, without its brackets: '"/bin/sh", "-c", "true"'.
set -eu
root=$1 name=$2 command=$3 file=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$root" --owner=0 --group=0 --numeric-owner -cf "$work/layer.tar" .
sum=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
cat >"$work/config.json" <<JSON
{"architecture": "$arch", "os": "linux", "config": {"Env": ["PATH=/bin"], "Cmd": [$command]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$sum"]}, "history": [{"created_by": "pack-image.sh"}]}
JSON
printf '[{"Config": "config.json", "RepoTags": ["%s"], "Layers": ["layer.tar"]}]\n' "$name" >"$work/manifest.json"
tar -C "$work" -cf "$file" manifest.json config.json layer.tar
