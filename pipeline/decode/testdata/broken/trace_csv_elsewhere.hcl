# A CSV file that tfexp has not written is a table.

experiment "elsewhere" { replicates = 1 }

workload "log" {
  trace { file = "jobs_slashes.csv" }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }
