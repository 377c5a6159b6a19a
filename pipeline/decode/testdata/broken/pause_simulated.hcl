experiment "x" {}

job "a" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine  = "simulated"
  threads = 1
  pause   = "checkpoint"
}

policy "fcfs" { order = "fcfs" }
