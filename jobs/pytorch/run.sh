#!/bin/sh
# Trains with the hardware that flags name:
#
#   run.sh [--model cnn] [...] --cpu --numThreads 2
#   run.sh [--model cnn] [...] --gpu --numGPUs 1
#
# PYTHON is the interpreter; by default Debian's, which has python3-torch.
here=$(cd "$(dirname "$0")" && pwd)
debian=/usr/bin/python3
[ -x "$debian" ] || debian=python3
exec sh "$here/../hardware_flags.sh" "${PYTHON:-$debian}" "$here/train.py" "$@"
