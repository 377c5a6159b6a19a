#!/usr/bin/env bash
# Builds the images of the Python programs without any registry: a Debian root
# file system by debootstrap, the programs and their Python packages in it, handed
# to `docker import`. The images are those of the Dockerfiles, on Debian's Python.
#
#   sudo jobs/build-image.sh tensorflow pytorch
#
# The root file system can be made before, and is then named by BASE:
#
#   sudo jobs/build-image.sh --base DIR
#   sudo BASE=DIR jobs/build-image.sh tensorflow
#
# MIRROR is the Debian mirror. Needs root, debootstrap, docker; TensorFlow comes
# from the Python index (by the pip of `make python-jobs`), PyTorch from Debian.
set -euo pipefail

SUITE=bookworm
MIRROR=${MIRROR:-http://deb.debian.org/debian}

fail() { echo "build-image.sh: $*" >&2; exit 1; }

[ $# -gt 0 ] || fail "want the images to build: tensorflow, pytorch"
only= # the root file system that is all to be made
if [ "$1" = --base ]; then
  [ $# = 2 ] || fail "--base wants a folder for the root file system"
  only=$(realpath -m "$2")
  shift 2
fi
for image in "$@"; do
  case $image in tensorflow | pytorch) ;; *) fail "no image is called \"$image\"; there are: tensorflow, pytorch" ;; esac
done
base=${BASE:+$(realpath "$BASE")}
[ "$(id -u)" = 0 ] || fail "debootstrap needs root: sudo $0 $*"
[ -n "$base" ] || command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
[ -n "$only" ] || docker version >/dev/null || fail "the Docker daemon does not answer"
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$base" ]; then
  base=${only:-$work/base}
  debootstrap --variant=minbase --include=python3 "$SUITE" "$base" "$MIRROR" >"$work/log" || { cat "$work/log" >&2; fail "debootstrap failed"; }
fi
[ -z "$only" ] || exit 0
cp /etc/resolv.conf "$base/etc/"

# in_root ROOT COMMAND... runs a command within a root file system.
in_root() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$@"; }

install_tensorflow() {
  local version pip=../.venv/bin/pip packages
  [ -x "$pip" ] || fail "run \`make python-jobs\` first: its pip fetches TensorFlow"
  version=$(in_root "$1" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  packages=$1/usr/local/lib/python$version/dist-packages
  mkdir -p "$packages"
  if [ -d "../.venv/lib/python$version/site-packages/tensorflow" ]; then
    # The same Python: what is installed and compiled there serves here.
    tar -C "../.venv/lib/python$version/site-packages" --exclude='./pip*' --exclude='./setuptools*' --exclude='./tfexp_job*' -c . |
      tar -C "$packages" -x --no-same-owner
    return
  fi
  "$pip" install --quiet --no-compile --only-binary=:all: --python-version "$version" --target "$packages" -r tensorflow/requirements.txt
  # Once for all, since the user of the image cannot write them: imports take half the time.
  in_root "$1" python3 -m compileall -q -j0 /usr/local/lib >/dev/null || true
}

install_pytorch() {
  in_root "$1" apt-get install -qq --no-install-recommends python3-torch >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "apt-get install python3-torch failed"; }
}

for image in "$@"; do
  root=$work/$image
  cp -a "$base" "$root"
  "install_$image" "$root"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
  opt=$root/opt/tfexp
  mkdir -p "$opt"/{digits,tfexp_job,"$image"}
  cp hardware_flags.sh "$opt"
  cp digits/{digits.py,digits.gz,ATTRIBUTION.md} "$opt/digits"
  cp tfexp_job/tfexp_job.py "$opt/tfexp_job"
  cp "$image"/*.py "$image/run.sh" "$opt/$image"
  tar -C "$root" -c . | docker import \
    --change 'ENV PYTHON=python3' --change 'USER 1000:1000' \
    --change "WORKDIR /opt/tfexp/$image" --change 'CMD ["./run.sh"]' \
    - "tfexp/$image:latest" >/dev/null
  rm -rf "$root"
  echo "tfexp/$image:latest"
done
