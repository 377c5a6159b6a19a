# Four policies, three rules of allocation, fixed and malleable jobs, and five
# lengths of the queue, in simulation: 600 cells in a few seconds.
#
#   tfexp run experiments/policy_matrix.hcl

experiment "policy_matrix" {
  description = "Which policy, which allocation of cores, and does it help that jobs can be resized?"
  seed        = 11
  replicates  = 5
}

job "tiny" {
  command   = ["train", "--model", "tiny"]
  epochs    = 10
  threads   = 2
  malleable = each.kind == "malleable"
  priority  = 0
  runtime {
    startup  = "2s"
    epoch    = normal("4s", "1s")
    parallel = 0.8
  }
}

job "small" {
  command   = ["train", "--model", "small"]
  epochs    = 10
  threads   = 4
  malleable = each.kind == "malleable"
  priority  = 1
  runtime {
    startup  = "2s"
    epoch    = normal("12s", "3s")
    parallel = 0.9
  }
}

job "medium" {
  command   = ["train", "--model", "medium"]
  epochs    = 20
  threads   = 6
  malleable = each.kind == "malleable"
  priority  = 2
  runtime {
    startup  = "3s"
    epoch    = normal("15s", "4s")
    parallel = 0.9
  }
}

job "large" {
  command   = ["train", "--model", "large"]
  epochs    = 30
  threads   = 12
  malleable = each.kind == "malleable"
  priority  = 3
  runtime {
    startup  = "5s"
    epoch    = normal("25s", "6s")
    parallel = 0.95
  }
}

# An eighth are large, half are tiny or small; they arrive faster than sixteen
# cores can serve them, so that a longer row of jobs is a longer queue.
workload "row" {
  submit {
    job          = job.tiny
    count        = each.job_count * 3 / 8
    interarrival = exponential("20s")
  }
  submit {
    job          = job.small
    count        = each.job_count / 4
    interarrival = exponential("30s")
  }
  submit {
    job          = job.medium
    count        = each.job_count / 4
    interarrival = exponential("30s")
  }
  submit {
    job          = job.large
    count        = each.job_count / 8
    interarrival = exponential("60s")
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 16
  noise   = 0.05
  overheads {
    start  = "500ms"
    pause  = "50ms"
    resume = "50ms"
    resize = "100ms"
  }
}

policy "fcfs" {
  order      = "fcfs"
  allocation = each.allocation
}

policy "priority" {
  order      = "priority"
  allocation = each.allocation
}

policy "preemptive" {
  order      = "priority"
  allocation = each.allocation
  preemption = "pause"
  victims    = "longest_run"
  feedback   = "2m"
}

policy "round_robin" {
  order      = "round_robin"
  allocation = each.allocation
  quantum    = "30s"
}

matrix {
  policy     = [policy.fcfs, policy.priority, policy.preemptive, policy.round_robin]
  allocation = ["strict", "always_attend", "max_prop"]
  kind       = ["fixed", "malleable"]
  job_count  = [8, 16, 32, 64, 128]
}

# Which policy?
compare "mean_jct" {
  baseline = policy.fcfs
  metrics  = ["mean_first_run_delay"]
}

# Which allocation?
compare "mean_jct" { baseline = { allocation = "max_prop" } }

# Does it help that jobs can be resized?
compare "mean_jct" { baseline = { kind = "fixed" } }

# Mean execution, first-run delay, turnaround, use of the cores and throughput,
# by the number of jobs.
plot "series" { x = "job_count" }
