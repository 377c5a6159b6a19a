# Lines that are wrong in the same way are counted, and the first of them is shown.

experiment "alike" { replicates = 1 }

workload "log" {
  trace {
    file    = "jobs_slashes.csv"
    format  = "table"
    columns = { arrival = "submitted", run_time = "duration", threads = "cpus" }
  }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }
