experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
  threads = 4
  nodes   = 2
}

workload "w" {
  trace {
    file = "load.requests"
    job = job.deep
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
