experiment "much_memory" { replicates = 5 }

job "served" {
  command  = ["true"]
  epochs   = 1
  deadline = "1h"
  runtime { epoch = exponential("100s") }
}

workload "side_by_side" {
  submit {
    job          = job.served
    count        = 3000000
    interarrival = "1s"
  }
}

workload "huge" {
  submit {
    job          = job.served
    count        = 10000000
    interarrival = "1s"
  }
  submit {
    job          = job.served
    count        = 10000000
    interarrival = "1s"
  }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 128
}

policy "fcfs" { order = "fcfs" }
