experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
}

workload "w" {
  submit {
    job = job.deep
    at_column = "arrival"
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
