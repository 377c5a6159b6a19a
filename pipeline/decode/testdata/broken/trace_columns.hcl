experiment "broken" {}

workload "w" {
  trace {
    file    = "log_good.csv"
    columns = { arrival = "when", run_time = "took", speed = "cards" }
  }
}

hardware "m" {
  engine = "simulated"
  node "n" {
    count   = 2
    threads = 16
    gpus    = 8
  }
}

policy "p" { order = "fcfs" }
