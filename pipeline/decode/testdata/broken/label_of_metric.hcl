experiment "label_of_metric" {}

job "j" {
  command = ["train"]
  epochs  = 10
  threads = 1
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

compare {}

threshold {}

compare "" { baseline = policy.fcfs }
