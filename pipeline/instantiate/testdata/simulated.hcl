# What simulated jobs do, and what is assumed of them.
experiment "simulated" {
  replicates = 1
  until      = "10m"
  seed       = 3
}

job "loss" {
  command     = ["x"]
  epochs      = 6
  target_loss = 0.3
  runtime {
    epoch   = "4s"
    startup = "1s"
    losses  = "losses.csv"
  }
}

job "drawn" {
  command = ["x"]
  steps   = 50
  threads = 4
  malleable = true
  runtime {
    epoch    = exponential("1s")
    parallel = 0.8
    final_accuracy = 0.9
    final_loss     = 0.1
  }
  checkpoint {
    every   = 10
    cost    = "500ms"
    restore = "2s"
  }
}

job "young" {
  command = ["x"]
  epochs  = 30
  threads = 2
  deadline = "5m"
  runtime { epoch = "2s" }
  checkpoint {
    every = "young"
    cost  = "1s"
  }
}

job "open" {
  command = ["x"]
  budget  = "20s"
  epochs  = 100
  runtime {
    epoch   = "3s"
    startup = "500ms"
  }
}

workload "w" {
  submit {
    job          = job.loss
    count        = 2
    interarrival = normal("5s", "1s")
  }
  submit {
    job   = job.drawn
    count = 3
    user  = "eve"
  }
  submit {
    job      = job.young
    deadline = "1m"
  }
  submit {
    job    = job.open
    budget = "12s"
  }
  resize {
    at      = "3s"
    job     = "drawn-2"
    threads = 2
  }
}

hardware "cloud" {
  engine = "simulated"
  noise  = 0.1
  lacks  = ["migrate"]
  node "spot" {
    count    = 2
    threads  = 4
    price    = 1.5
    lifetime = exponential("10m")
    startup  = "5s"
    warning  = "30s"
    region   = "west"
    max_lifetime = "2h"
  }
  node "own" {
    threads = 8
    memory  = "32GiB"
    rack    = "r1"
  }
  billing {
    minimum = "1m"
    unit    = "1s"
  }
  overheads {
    start   = "100ms"
    resume  = "200ms"
    migrate = "900ms"
  }
}

hardware "crowded" {
  engine  = "simulated"
  threads = 8
  contention { capacity = 0.7 }
}

policy "oracle" {
  order     = "sjf"
  backfill  = "conservative"
  estimates = "oracle"
}

policy "noisy" {
  order     = "srtf"
  preemption = "pause"
  estimates = noisy(0.3)
}

policy "online" {
  order     = "sjf"
  estimates = online(0.5)
  preemption = "pause"
}

policy "early" {
  order      = "edf"
  placement  = "earliest_finish"
}

compare "mean_jct" {
  baseline = { policy = policy.oracle, hardware = hardware.cloud }
  by       = "class"
  level    = 0.9
}

threshold "mean_jct" {
  policy = policy.oracle
  max    = "300s"
}

plot "gantt" {}

plot "metrics" { metric = "mean_waiting" }
