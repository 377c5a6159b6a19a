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
  epochs    = 25
  threads   = 1
  malleable = true
  priority  = 0
}

job "large" {
  builtin "mlp" {
    hidden = [256, 128]
    batch  = 256
  }
  epochs    = 25
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

# Jobs of a second or two: a tenth of one is a short sample. Large jobs are sampled
# on one thread too, since max_prop runs them on one at times.
profile {
  fraction = 0.1
  repeats  = 2
}

estimate { model = "auto" }

compare "mean_jct" { baseline = policy.fcfs }
