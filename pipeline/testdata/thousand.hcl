experiment "thousand" {
  description = "A thousand cells of a thousand jobs: how fast is a matrix?"
  seed        = 1
  replicates  = 25
}

job "served" {
  command   = ["true"]
  epochs    = 10
  threads   = 4
  malleable = true
  runtime {
    epoch    = normal("10s", "5s")
    parallel = 0.9
  }
}

workload "poisson" {
  submit {
    job          = job.served
    count        = 1000
    interarrival = exponential(each.gap)
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }

policy "easy" {
  order    = "fcfs"
  backfill = "easy"
}

policy "sjf" { order = "sjf" }

policy "turns" {
  order   = "round_robin"
  quantum = "60s"
}

matrix {
  gap        = ["8s", "10s", "12s", "15s", "20s", "25s", "30s", "35s", "40s", "50s"]
}
