# Short jobs stuck behind long ones: does taking turns help them?
#
#   tfexp validate FILE    checks this file
#   tfexp plan FILE        shows what would run, and how long it takes
#   tfexp run FILE         runs it, and says which policy was better

experiment "starter" {
  description = "Do short jobs wait less when they take turns with long ones?"
  seed        = 1  # the same seed gives the same arrivals
  replicates  = 12 # each cell runs this often, at most

  certain { within = "5%" } # no more often than it takes to decide the comparison
}

# Set it from outside: tfexp run FILE -var quantum=1s
variable "quantum" {
  type        = duration
  default     = "200ms"
  description = "How long a job runs before it is the next one's turn"
}

# Jobs are training programs. These two are built in; any other program runs
# with command = ["python3", "train.py"] in place of the builtin block.
job "long" {
  builtin "mlp" {
    hidden = [64, 32]
    passes = 4 # over the data, for one epoch
  }
  epochs  = 40
  threads = 1
}

job "short" {
  builtin "softmax" {
    passes = 10
  }
  epochs  = 10
  threads = 1
}

# Who submits what, and when.
workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 4
    interarrival = exponential("100ms")
  }
}

# One core of this machine, so that the jobs have something to wait for.
hardware "this_machine" {
  engine  = "process"
  threads = 1
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = var.quantum
}

# Every workload on every hardware under every policy is the default. Axes of
# your own sweep any argument: write quantum = ["200ms", "1s"] here and
# quantum = each.quantum in the policy.
matrix {
  workload = [workload.mixed]
  hardware = [hardware.this_machine]
  policy   = [policy.fcfs, policy.rr]
}

compare "mean_waiting" {
  baseline = policy.fcfs
}
