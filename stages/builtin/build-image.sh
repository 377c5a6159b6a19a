#!/bin/sh
# Builds the image tfexp/builtin:latest, in which the built-in training
# programs run as containers, without any registry: a root of tfexp's own
# static binary and, where there is a static busybox, its shell and tools.
#
#   stages/builtin/build-image.sh [NAME]
#   stages/builtin/build-image.sh --archive FILE [NAME]
#
# Needs Go, and a running Docker daemon unless FILE is to get the image's archive
# (for `ctr -n k8s.io images import` or `kind load image-archive`); a shell inside
# needs busybox-static.
set -eu
archive=
if [ "${1:-}" = --archive ]; then
  archive=$(realpath -m "${2:?want a file}")
  shift 2
fi
cd "$(dirname "$0")/../.."
name=${1:-tfexp/builtin:latest}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/tmp" "$root/etc" "$root/tfexp"
chmod 755 "$root"
chmod 1777 "$root/tmp"
echo 'root:x:0:0:root:/:/bin/sh' > "$root/etc/passwd"
CGO_ENABLED=0 go build -trimpath -o "$root/bin/tfexp" ./cmd/tfexp
if box=$(command -v busybox) && ! ldd "$box" >/dev/null 2>&1; then
  cp "$box" "$root/bin/busybox"
  for tool in $("$box" --list); do
    [ -e "$root/bin/$tool" ] || ln -s busybox "$root/bin/$tool"
  done
fi
if [ -n "$archive" ]; then
  stages/builtin/pack-image.sh "$root" "$name" '"/bin/tfexp", "--help"' "$archive"
  echo "built $name in $archive"
  exit
fi
tar -C "$root" --owner=0 --group=0 --numeric-owner -c . |
  docker import --change 'ENV PATH=/bin' --change 'CMD ["/bin/tfexp", "--help"]' - "$name" >/dev/null
echo "built $name"
