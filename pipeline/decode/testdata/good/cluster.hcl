# Most of the language in one file.
experiment "cluster" {
  description = "A cluster of unlike nodes"
  replicates  = 3
  records     = "metrics"
}

variable "jobs" {
  type    = number
  default = 6
  validation {
    condition     = var.jobs >= 1 && var.jobs <= 100
    error_message = "jobs must be from 1 to 100"
  }
}

variable "sizes" {
  type    = map(size)
  default = { small = "0.5GiB", large = "4096MiB" }
}

locals {
  gap     = format("%dms", local.base * 2)
  base    = max(100, var.jobs)
  seconds = [for n in range(1, 3) : "${n}s"]
}

job "train" {
  command   = ["sh", "-c", "exec ./train --rate ${each.rate}"]
  dir       = "models"
  env       = { B = "2", A = each.rate }
  files     = ["models/train"]
  flags     = true
  steps     = 2000
  threads   = { inter = 1, intra = 3, min = 2, max = 8 }
  malleable = true
  gpus      = 1
  memory    = var.sizes.small
  priority  = 2
  limit     = "10m"
  runtime {
    startup  = "2s"
    epoch    = "5ms"
    parallel = 0.9
  }
}

job "net" {
  builtin "cnn" {
    filters   = [4, 8]
    optimizer = "sgd"
  }
  epochs  = 3
  threads = { request = 2, max = 4 }
}

workload "light" {
  submit {
    job = job.net
    at  = ["0s", "1500ms", "2s"]
  }
}

workload "heavy" {
  submit {
    job          = job.train
    count        = var.jobs
    start        = "10s"
    interarrival = each.gap
    priority     = 1
    deadline     = "1h"
    user         = "ada"
  }
  submit {
    job          = job.net
    count        = 2
    interarrival = local.gap
  }
  resize {
    at      = "15s"
    job     = "train-2"
    threads = 6
  }
}

hardware "racks" {
  engine = "simulated"
  noise  = 0.05
  node "big" {
    count   = 2
    threads = 16
    memory  = "64GiB"
    gpus    = 4
  }
  node "small" {
    threads = 4
    memory  = var.sizes["large"]
  }
  overheads {
    start  = "200ms"
    pause  = "10ms"
    resume = "20ms"
    resize = "30ms"
  }
}

hardware "plain" {
  engine  = "simulated"
  threads = 8
  gpus    = 1
  lacks   = ["pause"]
}

policy "share" {
  order      = "fcfs"
  allocation = "max_prop"
  backfill   = "easy"
  estimates  = noisy(0.2)
}

policy "urgent" {
  order      = "priority"
  preemption = "pause"
  victims    = "smallest_request"
  feedback   = "90s"
}

policy "least" {
  order   = "las"
  quantum = each.quantum
}

matrix {
  hardware = [hardware.racks]
  policy   = [policy.share, policy.urgent, policy.least]
  zip {
    workload = [workload.light, workload.heavy]
    gap      = [null, normal("2s", "500ms")]
  }
  rate    = [0.1, 0.01]
  quantum = local.seconds
  exclude {
    when = policy.name == "urgent" && each.rate < 0.1 || each.policy == policy.least && each.quantum == "2s"
  }
  include {
    workload = workload.light
    hardware = hardware.plain
    policy   = policy.share
  }
}

profile {
  samples = 3
}

estimate {
  model  = "auto"
  models = ["linear"]
  level  = 0.95
}

compare "mean_waiting_s" {
  baseline = policy.share
  level    = 0.99
}

compare "utilization" { baseline = policy.urgent }

plot "gantt" {}

plot "metrics" {
  metric = "mean_jct"
}
