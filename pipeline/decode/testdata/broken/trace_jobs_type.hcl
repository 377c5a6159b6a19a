experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
  threads = 4
}

workload "w" {
  trace {
    file = "load.requests"
    jobs = { svm = "deep" }
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
