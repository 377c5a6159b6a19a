experiment "broken" {}

workload "w" {
  trace {
    file    = "wide_jobs.csv"
    columns = { arrival = "when", run_time = "took", threads = "cores" }
  }
}

hardware "m" {
  engine = "simulated"
  node "n" {
    count   = 2
    threads = 16
  }
}

policy "p" {
  order = "fcfs"
  nodes = "consolidated"
}

policy "q" { order = "fcfs" }
