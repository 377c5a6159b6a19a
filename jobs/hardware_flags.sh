#!/bin/sh
# Runs a program with the hardware that flags name, as tfexp appends them under
# `flags = true`; other arguments go to the program.
#
#   hardware_flags.sh PROGRAM... [--cpu] [--numThreads N] | [--gpu] [--numGPUs N]
#
# What tfexp says in the environment is finer (inter- and intra-op threads, which
# GPUs) and comes first; by hand the flags are enough.
set -eu

# number FLAG VALUE... ends with status 2 unless VALUE is a whole number and was
# not yet looked at.
number() {
  value=${2-}
  if [ "$left" -eq 0 ]; then value=; fi
  case $value in
  '' | *[!0-9]*)
    echo "run.sh: $1 wants a whole number, not \"$value\"" >&2
    exit 2
    ;;
  esac
}

left=$#
while [ "$left" -gt 0 ]; do
  left=$((left - 1))
  case $1 in
  --cpu)
    export CUDA_VISIBLE_DEVICES=
    shift
    ;;
  --gpu)
    : "${TFEXP_NUM_GPUS:=1}"
    export TFEXP_NUM_GPUS
    shift
    ;;
  --numThreads)
    number "$@"
    : "${TFEXP_INTRA_THREADS:=$2}" "${OMP_NUM_THREADS:=$2}"
    export TFEXP_INTRA_THREADS OMP_NUM_THREADS
    shift 2
    left=$((left - 1))
    ;;
  --numGPUs)
    number "$@"
    if [ -z "${CUDA_VISIBLE_DEVICES-}" ]; then
      CUDA_VISIBLE_DEVICES=$(seq -s, 0 $(($2 - 1)))
      export CUDA_VISIBLE_DEVICES
    fi
    export TFEXP_NUM_GPUS="$2"
    shift 2
    left=$((left - 1))
    ;;
  *)
    set -- "$@" "$1"
    shift
    ;;
  esac
done
exec "$@"
