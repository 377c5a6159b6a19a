# Does a job that is tuned while it trains end sooner than one with the best fixed setting, which nobody knows beforehand?
#
#   tfexp run experiments/tuning_real.hcl
#
# A network with parameter servers and workers learns digits on two cores. All settings that fit are measured by a job of
# their own (`grid`); then one job is tuned while it trains, in place where that can be (`online`) and always by a checkpoint
# and a new start (`restart`), and one keeps what it begins with (`fixed`). Each job ends at the same loss.
#
# About five minutes on two idle cores. tunings.csv has the times, tuning included (`found`), against the best fixed setting
# (`regret_pct`); decisions.csv in the folders of the cells has each change, with what it was expected to save and to cost.

experiment "tuning_real" {
  description = "Does a job that is tuned while it trains end sooner than with the best fixed setting?"
  seed        = 11
  replicates  = 1
}

locals {
  ways = {
    grid    = { mode = "trials", method = "grid" }
    online  = { mode = "online", method = "bo" }
    restart = { mode = "restart", method = "bo" }
    fixed   = { mode = "fixed", method = "fixed" }
  }
}

job "digits" {
  builtin "cnn" {
    filters       = [16, 32]
    hidden        = 128
    learning_rate = 0.0001
  }
  epochs      = 400
  target_loss = 0.005

  # Parameter servers wait for most of the time: they share the cores of the first worker.
  role "ps" {
    count   = each.ps
    threads = 0
  }
  # A worker joins or leaves while the others train.
  role "worker" {
    count   = each.workers
    threads = each.intra
    elastic = true
    max     = 2
  }
}

hardware "here" {
  engine  = "process"
  threads = 2
}

matrix {
  way = ["grid", "online", "restart", "fixed"]
}

tune "digits" {
  job       = job.digits
  objective = "time_to_loss"
  target    = 0.005
  mode      = local.ways[each.way].mode
  method    = local.ways[each.way].method
  trials    = 8
  limit     = "5m"

  setting "ps" { values = [1, 2] }
  setting "workers" { values = [1, 2] }
  setting "intra" { values = [1, 2] }
}
