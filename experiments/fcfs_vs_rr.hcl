# Short jobs stuck behind long ones: does round robin help, and what does it cost?
#
# Two long trainings take the whole machine; six short ones arrive while they
# run. Under FCFS the short jobs wait for both. Round robin lets them have
# their turn after each quantum.
#
#   tfexp run experiments/fcfs_vs_rr.hcl
#   tfexp run experiments/fcfs_vs_rr.hcl -var quantum=1s

experiment "fcfs_vs_rr" {
  description = "Short training jobs arrive behind long ones on a small machine. How much less do they wait under round robin than under FCFS, and what do the long jobs pay?"
  seed        = 7
  replicates  = 12 # at most

  certain { # no more of them than it takes to know whether jobs wait less
    within  = "5%"
    metrics = ["mean_waiting"]
  }
}

variable "quantum" {
  type        = duration
  default     = "300ms"
  description = "how long a job runs under round robin before the next one's turn"
}

job "long" {
  builtin "mlp" {
    hidden = [256, 128]
    batch  = 64
  }
  epochs  = 50
  threads = min(2, host.threads)
}

job "short" {
  builtin "softmax" {
    passes = 15
  }
  epochs  = 8
  threads = 1
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    start        = "100ms"
    interarrival = exponential("200ms")
  }
}

hardware "this_machine" {
  engine  = "process"
  threads = min(2, host.threads)
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = var.quantum
}

matrix {
  workload = [workload.mixed]
  hardware = [hardware.this_machine]
  policy   = [policy.fcfs, policy.rr]
}

compare "mean_waiting" {
  baseline = policy.fcfs
  metrics  = ["mean_jct", "makespan"]
}

# What do the long jobs pay?
compare "mean_jct" {
  baseline = policy.fcfs
  by       = "class"
}
