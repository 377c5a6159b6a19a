experiment "odd_values" {}

job "without_memory" {
  command = ["train"]
  epochs  = 10
  memory  = "0B"
  runtime { epoch = "1s" }
}

job "of_nothing" {
  command = ["train"]
  epochs  = 10
  files   = [""]
  runtime { epoch = "1h1h1h" }
}

workload "w" {
  submit { job = job.without_memory }
  submit { job = job.of_nothing }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }

matrix {
  policy = [policy.fcfs]
}
