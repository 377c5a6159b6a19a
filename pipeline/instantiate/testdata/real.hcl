# Programs of this machine: what is sampled, how they are started, and how their cells are simulated.
experiment "real" { replicates = 2 }

job "plain" {
  command = ["./train.sh", "--fast"]
  env     = { RATE = "0.1" }
  files   = ["data.csv"]
  epochs  = 40
  threads = { inter = 1, intra = 1, min = 1, max = 4 }
  malleable = true
  memory  = "64MiB"
  priority = 3
  limit   = "1m"
  retries = 1
}

job "steps" {
  command     = ["./train.sh"]
  flags       = true
  time_writer = "first"
  steps       = 300
  checkpoint { every = "5s" }
}

job "built" {
  builtin "mlp" { batch = 32 }
  epochs      = 12
  deadline    = "90s"
}

job "loss" {
  command     = ["./train.sh"]
  epochs      = 20
  target_loss = 0.25
}

job "open" {
  command = ["./train.sh"]
  budget  = "7s"
}

workload "mixed" {
  submit {
    job   = job.plain
    count = 2
    user  = "ada"
  }
  submit {
    job          = job.steps
    interarrival = "2s"
    count        = 2
    priority     = 5
  }
  submit {
    job      = job.built
    deadline = "30s"
  }
}

workload "ends" {
  submit { job = job.loss }
  submit { job = job.open }
}

hardware "here" {
  engine = "process"
}

policy "sjf" {
  order    = "sjf"
  backfill = "easy"
}

policy "online" {
  order     = "srtf"
  estimates = "online"
  preemption = "pause"
}

policy "half" {
  order      = "fcfs"
  allocation = "always_attend"
}

profile {
  samples  = 3
  fraction = 0.1
  repeats  = 2
  budget   = 0.2
  limit    = "30s"
}

estimate {
  model   = "auto"
  models  = ["linear"]
  correct = "policies"
}

matrix {
  include {
    workload = workload.mixed
    hardware = hardware.here
    policy   = policy.sjf
  }
  include {
    workload = workload.mixed
    hardware = hardware.here
    policy   = policy.half
  }
  include {
    workload = workload.mixed
    hardware = hardware.here
    policy   = policy.online
  }
  include {
    workload = workload.ends
    hardware = hardware.here
    policy   = policy.half
  }
}
