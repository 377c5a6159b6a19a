experiment "trace_clock" {}

workload "w" {
  trace {
    file    = "trace_clock.csv"
    columns = { arrival = "submit", run_time = "elapsed" }
  }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }
