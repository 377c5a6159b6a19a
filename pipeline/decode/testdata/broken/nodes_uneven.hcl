experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
  threads = 4
  nodes   = 3
}

workload "w" {
  submit { job = job.deep }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
