#!/usr/bin/env bash
# Kills tfexp, pods, kubelets and the API server of .ci/kubernetes at random moments of experiments, resumes each experiment
# until it is whole, and looks that nothing is left in the cluster.
#
#   make build; eval "$(.ci/kubernetes start)"; hardware/kubernetes/kills.sh
#
# KILLS (6) is how many kills there are, SEED chooses them. With ROLES=1 one of the jobs has roles, and no policy leaves
# the order to the cluster.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD tfexp=$PWD/bin/tfexp kills=${KILLS:-6} seed=${SEED:-$RANDOM}
RANDOM=$seed
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 0755 "$dir"
kinds=(tfexp tfexp pod pod pod kubelet apiserver)
declare -A count
resumed=0 whole=0

fail() { echo "kills.sh: $* (SEED=$seed)" >&2; exit 1; }

roles='job "parts" {
  builtin "mlp" { hidden = [32] }
  epochs = 20
  role "worker" { count = 1 }
  role "ps" {
    count   = 1
    threads = 0
  }
}'
cat >"$dir/kills.hcl" <<HCL
experiment "kills" { replicates = 2 }
job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 30
  threads = 1
}
job "short" {
  builtin "softmax" {}
  epochs  = 10
  threads = 1
}
${ROLES:+$roles}
workload "mixed" {
  submit { job = job.long }
  ${ROLES:+submit { job = job.parts \}}
  submit {
    job   = job.short
    count = 2
    start = "1s"
  }
}
hardware "team" {
  engine      = "kubernetes"
  namespace   = "research"
  image       = "tfexp/builtin:latest"
  image_pull  = "never"
  checkpoints = "host:$dir/checkpoints"
  node "n" { threads = 1 }
}
policy "fcfs" { order = "fcfs" }
policy "las" {
  order   = "las"
  quantum = "6s"
}
$([ -n "${ROLES:-}" ] || echo 'policy "cluster" { order = "cluster" }')
HCL

# hit kills something, after a time; PID is tfexp's process.
hit() {
  local kind pod
  sleep "$((RANDOM % 12)).$((RANDOM % 10))"
  kind=${kinds[RANDOM % ${#kinds[@]}]}
  case $kind in
  tfexp) kill -KILL "$1" 2>/dev/null || return 0 ;;
  pod)
    pod=$(kubectl -n research get pods -l app.kubernetes.io/managed-by=tfexp -o name | sed -n 1p) # head would end kubectl by SIGPIPE
    [ -n "$pod" ] || return 0
    kubectl -n research delete "$pod" --force --wait=false >/dev/null 2>&1 || return 0
    ;;
  kubelet)
    .ci/kubernetes kill n1/kubelet
    sleep $((RANDOM % 3))
    .ci/kubernetes daemon n1/kubelet
    ;;
  apiserver)
    .ci/kubernetes kill kube-apiserver
    sleep $((RANDOM % 3))
    .ci/kubernetes daemon kube-apiserver
    ;;
  esac
  count[$kind]=$((${count[$kind]:-0} + 1))
  kills=$((kills - 1))
}

tries=0
while [ "$kills" -gt 0 ] || [ ! -e "$dir/whole" ]; do
  [ ! -e "$dir/whole" ] || rm -rf "$dir/whole" "$dir/results" # another experiment
  [ $((tries += 1)) -le $((${KILLS:-6} * 4 + 20)) ] || fail "the experiment does not end: $(tail -n 5 "$dir/log")"
  (cd "$dir" && exec "$tfexp" run kills.hcl --quiet) >"$dir/log" 2>&1 &
  pid=$!
  while [ "$kills" -gt 0 ] && kill -0 $pid 2>/dev/null; do hit $pid; done
  code=0
  wait $pid || code=$?
  case $code in
  0) touch "$dir/whole" && whole=$((whole + 1)) ;;
  6) sleep 2 ;; # a node is not ready yet
  137) ;;
  *) fail "tfexp ended with $code: $(tail -n 20 "$dir/log")" ;;
  esac
  [ $code = 0 ] || resumed=$((resumed + 1))
done
(cd "$dir" && "$tfexp" check results >"$dir/log" 2>&1) || fail "the results are not right: $(cat "$dir/log")"
left=$(kubectl --context admin get jobs,pods,services,secrets -A -l app.kubernetes.io/managed-by=tfexp -o name)
[ -z "$left" ] || fail "left in the cluster: $left"
echo "$whole whole experiments, resumed $resumed times; kills:$(for kind in "${!count[@]}"; do echo -n " ${count[$kind]} $kind"; done)"
