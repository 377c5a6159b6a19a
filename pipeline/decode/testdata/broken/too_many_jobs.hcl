experiment "too_many_jobs" { records = "metrics" }

job "served" {
  command = ["true"]
  epochs  = 1
  runtime { epoch = exponential("100s") }
}

workload "year" {
  submit {
    job          = job.served
    count        = 44000000
    interarrival = "1s"
  }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 128
}

policy "fcfs" { order = "fcfs" }

policy "las" {
  order   = "las"
  quantum = "1m"
}
