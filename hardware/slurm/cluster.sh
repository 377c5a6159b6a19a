#!/usr/bin/env bash
# A Slurm cluster on this machine, to try tfexp on Slurm and to test it: one
# controller and three nodes, which share the machine's cores. It needs Debian's
# packages slurm-wlm and munge (sudo apt-get install slurm-wlm munge) and, unless
# it is for yourself alone, root.
#
#   cluster.sh start [NODES]   starts it, and prints what to set: eval "$(cluster.sh start)"
#   cluster.sh env             prints what to set
#   cluster.sh stop            ends it with all that runs on it
#   cluster.sh daemon NAME     starts one daemon again: slurmctld, n1, n2, …
#   cluster.sh end NAME        ends one daemon
#   cluster.sh kill NAME       kills one daemon at once (SIGKILL)
#
# All its files are in TFEXP_SLURM (/var/tmp/tfexp-slurm by default); no systemd,
# no database, no open port beyond this machine. TFEXP_SLURM_CPUS is how many
# cores each node has; by default all of the machine.
set -euo pipefail

dir=${TFEXP_SLURM:-/var/tmp/tfexp-slurm}
cpus=${TFEXP_SLURM_CPUS:-$(nproc)}
me=$(id -un)
base=${TFEXP_SLURM_PORT:-27817}
export SLURM_CONF=$dir/slurm.conf
PATH=$PATH:/usr/sbin:/sbin

fail() { echo "cluster.sh: $*" >&2; exit 1; }

# alive NAME prints the process number of a daemon that runs.
alive() {
  local pid
  pid=$(cat "$dir/$1.pid" 2>/dev/null) && kill -0 "$pid" 2>/dev/null && echo "$pid"
}

daemon() {
  alive "$1" >/dev/null && return
  case $1 in
  munged)
    munged --force --socket="$dir/munge/socket" --key-file="$dir/munge/key" --pid-file="$dir/munged.pid" \
      --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
    ;;
  slurmctld) slurmctld -L "$dir/slurmctld.log" >/dev/null ;;
  n*) slurmd -N "$1" -L "$dir/$1.log" >/dev/null ;;
  *) fail "no daemon is called $1" ;;
  esac
}

# end NAME ends a daemon, and waits for it.
end() {
  local pid
  pid=$(alive "$1") || return 0
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
}

configure() {
  local nodes=$1 i
  # The job numbers of an earlier cluster must not come again.
  cat >"$SLURM_CONF" <<CONF
ClusterName=tfexp
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
SlurmctldPort=$base
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmdSpoolDir=$dir/spool-%n
StateSaveLocation=$dir/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=50000,sched_interval=2,bf_interval=2,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
FirstJobId=$(($(date +%s) % 9000000 + 1000))
MaxArraySize=10001
MaxJobCount=20000
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=2
CompleteWait=0
InactiveLimit=0
MinJobAge=300
CONF
  for i in $(seq "$nodes"); do
    echo "NodeName=n$i NodeAddr=127.0.0.1 NodeHostname=localhost Port=$((base + i)) CPUs=$cpus RealMemory=2048"
  done >>"$SLURM_CONF"
  cat >>"$SLURM_CONF" <<CONF
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=1-0 DefaultTime=60 PriorityTier=10
PartitionName=urgent Nodes=n[1-$nodes] MaxTime=1-0 DefaultTime=60 PriorityTier=20 PreemptMode=OFF
PartitionName=patient Nodes=n[1-$nodes] MaxTime=1-0 DefaultTime=60 PriorityTier=10 GraceTime=15
PartitionName=small Nodes=n1 MaxNodes=1 MaxTime=0-0:10:0 PriorityTier=10
CONF
}

start() {
  local nodes=${1:-3} i
  for i in munged slurmctld slurmd; do
    command -v "$i" >/dev/null || fail "$i is missing: sudo apt-get install --no-install-recommends slurm-wlm munge"
  done
  if alive slurmctld >/dev/null; then return; fi
  mkdir -p "$dir/munge" "$dir/state"
  chmod 0755 "$dir"
  chmod 0711 "$dir/munge"
  configure "$nodes"
  [ -e "$dir/munge/key" ] || (umask 077; head -c 1024 /dev/urandom >"$dir/munge/key")
  daemon munged
  daemon slurmctld
  for i in $(seq "$nodes"); do
    mkdir -p "$dir/spool-n$i"
    daemon "n$i"
  done
  for _ in $(seq 300); do
    [ "$(sinfo -h -N -p main -t idle -o %N 2>/dev/null | wc -l)" = "$nodes" ] && return
    sleep 0.2
  done
  sinfo >&2 || true
  fail "the nodes did not come up; the logs are in $dir"
}

stop() {
  local pid name
  if alive slurmctld >/dev/null; then
    scancel --user="$me" 2>/dev/null || true
  fi
  for name in $(cd "$dir" 2>/dev/null && ls n*.pid slurmctld.pid munged.pid 2>/dev/null | sed 's/\.pid$//'); do
    end "$name"
  done
  # A step outlives its slurmd, which is how one can be started again.
  for pid in $(pgrep -f "slurmstepd: \[" || true); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "SLURM_CONF=$SLURM_CONF" && kill -KILL "$pid" || true
  done
  rm -rf "$dir"
}

env_lines() { echo "export SLURM_CONF=$SLURM_CONF"; }

case ${1:-} in
start) start "${2:-3}"; env_lines ;;
env) env_lines ;;
stop) stop ;;
daemon) daemon "${2:?which daemon}" ;;
end) end "${2:?which daemon}" ;;
kill)
  pid=$(alive "${2:?which daemon}") && kill -KILL "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
