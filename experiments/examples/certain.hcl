# Replicates until each comparison is decided, or until the cells have run for a minute. Seconds.
experiment "certain" {
  description = "Which order lets jobs wait less, and how many replicates does it take to know?"
  replicates  = 40 # at most

  certain {
    within      = "10%"
    metrics     = ["mean_waiting", "p95_jct"]
    time        = "1m"
    drop_losers = true
  }
}

job "long" {
  command = ["true"]
  epochs  = 10
  threads = 2
  runtime { epoch = "20s" }
}

job "short" {
  command = ["true"]
  epochs  = 3
  threads = 1
  runtime { epoch = "5s" }
}

workload "stream" {
  submit {
    job          = job.long
    count        = 20
    interarrival = exponential("230s")
  }
  submit {
    job          = job.short
    count        = 60
    interarrival = exponential("60s")
  }
}

hardware "two_cores" {
  engine  = "simulated"
  threads = 2
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
policy "rr" {
  order   = "round_robin"
  quantum = "10s"
}

compare "mean_waiting" {
  baseline = policy.fcfs
  metrics  = ["p95_jct", "makespan"]
}
