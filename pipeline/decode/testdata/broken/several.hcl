experiment "broken" {
  sede       = 7
  replicates = 3
}

variable "quantum" {
  type    = duration
  default = "1s"
}

job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 0
  threads = 2
}

job "short" {
  builtin "softmax" {}
  epochs  = 20
}

workload "mixed" {
  submit {
    job   = job.log
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("400ms")
  }
}

hardware "here" {
  engine  = "podman"
  threads = host.threads
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = "1"
}

matrix {
  workload = [workload.mixed]
  policy   = [policy.fcfs, policy.rr]
}

compare "mean_jt" {
  baseline = policy.fcfs
}
