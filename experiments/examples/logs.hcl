# Logs of schedulers as workloads: a table with columns of any name, a log in the standard workload format, and what sacct prints.
experiment "logs" {
  description = "Would backfill have helped in this log?"
  replicates  = 1
  keep_inputs = "1GiB"
}

job "hub" {
  command = ["python3", "train.py"]
  epochs  = 1
  limit   = "1h"
  runtime { epoch = "20m" }
}

workload "table" {
  trace {
    file            = "log.csv"
    format          = "table"
    separator       = ";"
    dates           = "day_first"
    class           = "training"
    memory_unit     = "1GiB"
    threads_per_gpu = 4
    requested_unit  = "1m"
    columns = {
      job            = "id"
      arrival        = "submitted"
      start          = "began"
      end            = "ended"
      requested_time = "limit"
      gpus           = "gpus"
      memory         = "memory"
      user           = "who"
    }
  }
}

workload "archive" {
  trace {
    file                  = "log.swf"
    min_runtime           = "1s"
    runtime_scale         = 1.1
    threads_per_processor = 2
  }
}

workload "accounting" {
  trace {
    file           = "sacct.txt"
    format         = "accounting"
    default_limit  = { short = "10m", "*" = "2h" }
    default_memory = { "*" = "1GiB per thread" }
  }
}

workload "requests" {
  trace {
    file = "load.requests"
    jobs = { c = job.hub }
    job  = job.hub
  }
}

hardware "cluster" {
  engine = "simulated"
  node "n" {
    count   = 2
    threads = 32
    gpus    = 4
    memory  = "64GiB"
  }
}

policy "fcfs" { order = "fcfs" }

policy "easy" {
  order     = "fcfs"
  backfill  = "easy"
  estimates = "requested"
}

policy "replan" {
  order      = "fcfs"
  preemption = "pause"
  replan     = true
}

# The archive under all policies, the others under two.
matrix {
  workload = [workload.table, workload.accounting, workload.requests]
  policy   = [policy.fcfs, policy.easy]
  include { workload = workload.archive }
  include {
    workload = workload.archive
    policy   = policy.replan
  }
}

compare "mean_waiting" { baseline = policy.fcfs }
