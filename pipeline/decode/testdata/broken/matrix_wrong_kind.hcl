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
  engine  = "process"
  threads = host.threads
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = var.quantum
}

matrix {
  workload = [policy.fcfs]
  policy   = [policy.fcfs, policy.rr]
}

compare "mean_jct" {
  baseline = policy.fcfs
}
