#!/usr/bin/env bash
# Measures what cells, jobs and reports cost, for docs/scale.md: a row for each
# size, as Markdown. On an idle machine; the largest sizes take hours and want a
# disk with room for a folder a cell.
#
#   scale.sh cells 100 1000 10000      cells of 10 jobs, on this machine
#   scale.sh jobs 1000 10000 100000    20 cells of so many jobs
#   scale.sh array 1000 10000          cells of 10 jobs as tasks of an array (--on slurm)
#   scale.sh metrics 1000 10000        cells of JOBS jobs (1000) of which metrics alone are kept, as tasks of an array
#   scale.sh shards 1000 10000         the same on this machine
#   scale.sh nodes 10 100 1000 10000   a cell of 100,000 jobs on so many nodes of 16 cores
#
# TFEXP is the program (tfexp by default), OUT a folder that nodes see.
set -euo pipefail
tfexp=${TFEXP:-tfexp}
out=${OUT:-$(mktemp -d)}
file=$(dirname "$0")/../../experiments/slurm_array.hcl
kind=${1:?cells, jobs, array, metrics, shards or nodes}
shift
if [ "$kind" = nodes ]; then
  file=$out/nodes.hcl
  cat >"$file" <<'HCL'
experiment "nodes" {
  seed       = 1
  replicates = 1
  records    = "metrics"
}
variable "nodes" { type = number }
job "t" {
  command = ["train"]
  epochs  = 10
  threads = 2
  runtime { epoch = exponential("6s") }
}
workload "w" {
  submit {
    job          = job.t
    count        = 100000
    interarrival = exponential("${floor(8000000 / var.nodes)}us")
  }
}
hardware "h" {
  engine = "simulated"
  node "n" {
    count   = var.nodes
    threads = 16
  }
}
policy "easy" {
  order    = "fcfs"
  backfill = "easy"
}
matrix {
  workload = [workload.w]
  hardware = [hardware.h]
  policy   = [policy.easy]
}
HCL
fi
echo "| $kind | seconds | peak memory (MiB) | folder (MiB) | files | again, all reused (s) |"
echo "|---|---|---|---|---|---|"
for n in "$@"; do
  case $kind in
  nodes) vars=(-var "nodes=$n") ;;
  cells | array) vars=(-var "replicates=$((n / 20))" -var jobs=10) ;;
  metrics | shards) vars=(-var "replicates=$((n / 20))" -var "jobs=${JOBS:-1000}" -var records=metrics) ;;
  jobs) vars=(-var replicates=1 -var "jobs=$n") ;;
  esac
  args=(run "$file" --quiet --out "$out/$kind-$n" "${vars[@]}")
  case $kind in array | metrics) args+=(--on slurm) ;; esac
  began=$(date +%s.%N)
  "$tfexp" "${args[@]}" >/dev/null 2>&1 &
  pid=$! peak=0
  while kill -0 $pid 2>/dev/null; do
    now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null || true)
    [ "${now:-0}" -gt "$peak" ] && peak=$now
    sleep 0.05
  done
  wait $pid
  ended=$(date +%s.%N)
  size=$(du -sm "$out/$kind-$n" | cut -f1) files=$(find "$out/$kind-$n" -type f | wc -l)
  again=$( { TIMEFORMAT=%R; time "$tfexp" "${args[@]}" >/dev/null 2>&1; } 2>&1)
  echo "| $n | $(awk -v a="$began" -v b="$ended" 'BEGIN { printf "%.1f", b - a }') | $((peak / 1024)) | $size | $files | $again |"
  rm -rf "${out:?}/$kind-$n"
done
