experiment "broken" {}

workload "w" {
  trace {
    file = "alternatives.csv"
    columns = {
      arrival            = "when", gpus = "cards", run_time = "took"
      cpu_run_time       = "on_cpu", cpu_threads = "cores"
      cpu_requested_time = "asked"
    }
  }
}

workload "no_run_time" {
  trace {
    file    = "alternatives.csv"
    columns = { arrival = "when", gpus = "cards", run_time = "took", cpu_threads = "cores" }
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 4
  gpus    = 1
}

policy "p" { order = "fcfs" }
