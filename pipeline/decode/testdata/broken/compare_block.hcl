experiment "compare_block" {}

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
policy "sjf" { order = "sjf" }

compare "mean_jct" {
  baseline = policy.fcfs
  block    = "24h"
}

compare "mean_waiting" { baseline = { hardware = hardware.h, sigma = 0 } }
