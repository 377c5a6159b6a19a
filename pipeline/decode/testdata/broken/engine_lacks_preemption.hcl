experiment "broken" {
  seed       = 7
  replicates = 3
}

variable "quantum" {
  type    = duration
  default = "1s"
}

job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 60
  threads = 2
}

job "short" {
  builtin "softmax" {}
  epochs  = 20
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("400ms")
  }
}

hardware "here" {
  engine  = "simulated"
  threads = 4
  lacks   = ["pause"]
}

policy "fcfs" {
  order      = "priority"
  preemption = "pause"
}

policy "rr" {
  order = "sjf"
}

matrix {
  workload = [workload.mixed]
  policy   = [policy.fcfs, policy.rr]
}

compare "mean_jct" {
  baseline = policy.fcfs
}
