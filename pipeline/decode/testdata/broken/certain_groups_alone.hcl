experiment "broken" {
  replicates = 9
  certain {}
}

job "a" {
  command = ["true"]
  epochs  = 1
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine  = "simulated"
  threads = 1
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
compare "mean_waiting" {
  baseline = policy.fcfs
  by       = "class"
}
