experiment "broken" {}

hardware "m" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention.csv"
    measured_threads = 16
    where            = { jobs = "1" }
  }
}

hardware "n" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention.csv"
    measured_threads = 16
    cores_column     = "core"
  }
}

hardware "o" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "times.csv"
    measured_threads = 16
    cores_column     = "cores"
    jobs_column      = "cores"
    time_column      = "time"
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
