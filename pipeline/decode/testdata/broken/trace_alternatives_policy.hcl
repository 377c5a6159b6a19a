experiment "broken" {}

workload "large" {
  trace {
    file    = "alternatives_large.csv"
    columns = { arrival = "when", gpus = "cards", run_time = "took", cpu_run_time = "on_cpu", cpu_threads = "cores" }
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 4
  gpus    = 1
}

policy "p" {
  order      = "fcfs"
  allocation = "always_attend"
}
