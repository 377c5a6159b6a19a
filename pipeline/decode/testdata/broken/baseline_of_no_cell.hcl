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

hardware "there" {
  engine  = "simulated"
  threads = 4
}

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}

matrix {
  workload = [workload.mixed]
  policy   = [policy.fcfs]
  hardware = [hardware.here]

  include {
    workload = workload.mixed
    policy   = policy.rr
    hardware = hardware.there
  }
}

compare "mean_jct" {
  baseline = { policy = policy.fcfs, hardware = hardware.there }
}
