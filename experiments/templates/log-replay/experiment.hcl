# The replay of a cluster's log: what if the scheduler backfilled, what if there were more nodes?
#
#   tfexp run FILE
#
# log.swf stands for your log, in the Standard Workload Format; other formats and logs as CSV: the block trace in
# docs/language.md. Nothing is drawn at random, so one replicate says it all.

experiment "log-replay" {
  description = "On this log: what does backfilling bring, what do 50% more cores, and for whom?"
  replicates  = 1
}

workload "log" {
  trace { file = "log.swf" }
}

hardware "cluster" {
  engine  = "simulated"
  threads = each.cores
}

policy "fcfs" { order = "fcfs" }

# Later jobs may pass the first one, as long as its start is not delayed by the run times that users asked for.
policy "easy" {
  order     = "fcfs"
  backfill  = "easy"
  estimates = "requested"
}

matrix {
  cores = [64, 96]
}

compare "mean_waiting" {
  baseline = { policy = policy.fcfs, cores = 64 }
  metrics  = ["mean_bounded_slowdown"]
}

# Who waits less: small jobs or large ones?
compare "mean_waiting" {
  baseline = policy.fcfs
  by       = "size"
}

# How much does that depend on which days the log has?
compare "mean_jct" {
  baseline = policy.fcfs
  block    = "24h"
}
