# A part of the policy matrix for real: processes on two cores of this machine.
#
#   tfexp run experiments/policies_real.hcl

experiment "policies_real" {
  description = "Does the order of the policies in simulation hold for real training jobs, which compete for caches and memory?"
  seed        = 11
  replicates  = 3
}

job "small" {
  builtin "softmax" { passes = 15 }
  epochs    = 6
  threads   = 1
  malleable = true
  priority  = 0
}

job "large" {
  builtin "mlp" {
    hidden = [128, 64]
    batch  = 64
  }
  epochs    = 30
  threads   = min(2, host.threads)
  malleable = true
  priority  = 1
}

# The large jobs come first and hold the machine; the small ones are urgent.
workload "row" {
  submit {
    job   = job.large
    count = each.job_count / 4
  }
  submit {
    job          = job.small
    count        = each.job_count * 3 / 4
    interarrival = exponential("150ms")
  }
}

hardware "this_machine" {
  engine  = "process"
  threads = min(2, host.threads)
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
  feedback   = "10s"
}

policy "round_robin" {
  order      = "round_robin"
  allocation = each.allocation
  quantum    = "300ms"
}

matrix {
  policy     = [policy.fcfs, policy.priority, policy.preemptive, policy.round_robin]
  allocation = ["strict", "max_prop"]
  job_count  = [4, 8]
}

compare "mean_jct" { baseline = policy.fcfs }
