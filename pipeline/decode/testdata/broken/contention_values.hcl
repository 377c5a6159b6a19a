# Measurements that no machine gives, and fields that no comma separates.
experiment "broken" {}

hardware "beyond" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention_beyond.csv"
    measured_threads = 16
  }
}

hardware "parts" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention_parts.csv"
    measured_threads = 16
  }
}

hardware "long" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention_long.csv"
    measured_threads = 16
  }
}

hardware "semicolons" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention_semicolons.csv"
    measured_threads = 16
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
