experiment "broken" {}

hardware "m" {
  engine  = "simulated"
  threads = 16
  contention {
    file     = "contention.csv"
    capacity = 0.8
  }
}

hardware "n" {
  engine  = "simulated"
  threads = 16
  contention {
    serial           = 0.1
    measured_threads = 64
    jobs_column      = "jobs"
  }
}

hardware "o" {
  engine  = "process"
  threads = 2
  contention { capacity = 0.8 }
}

hardware "p" {
  engine  = "simulated"
  threads = 16
  contention {
    capacity  = 0
    sharpness = "4"
    serial    = 1.5
    threads   = 0
  }
}

job "a" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.a }
}

policy "fcfs" { order = "fcfs" }
