experiment "broken" {}

job "j" {
  command = ["train"]
  epochs  = each.epochs
}

workload "w" {
  submit {
    job     = job.j
    at_file = "nowhere.csv"
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }

matrix { epochs = [1, 2] }
