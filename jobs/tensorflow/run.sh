#!/bin/sh
# Trains with the hardware that flags name:
#
#   run.sh [--model cnn] [...] --cpu --numThreads 2
#   run.sh [--model cnn] [...] --gpu --numGPUs 1
#
# PYTHON is the interpreter; by default that of `make python-jobs`, where there is one.
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../../.venv/bin/python
[ -x "$venv" ] || venv=python3
exec sh "$here/../hardware_flags.sh" "${PYTHON:-$venv}" "$here/train.py" "$@"
