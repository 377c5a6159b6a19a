experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
}

workload "w" {
  submit {
    job = job.deep
    at_file = "instants_good.csv"
    count   = 3
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
