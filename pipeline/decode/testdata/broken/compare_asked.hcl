experiment "compare_asked" {}

job "j" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.j }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }

compare "makespan" {
  baseline = policy.fcfs
  by       = "class"
}

compare "mean_jct" {
  baseline = policy.fcfs
  metrics  = ["mean_waiting", "p95_jct"]
  block    = "24h"
}

compare "mean_waiting" {
  baseline = { hardware = "h", sigma = 0 }
  by       = "classes"
}

compare "mean_service" { baseline = {} }

compare "mean_slowdown" { baseline = job.j }
