experiment "broken" {}

workload "w" {
  trace {
    file    = "log_good.csv"
    columns = { arrival = "submitted", run_time = "took" }
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
