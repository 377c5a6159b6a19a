# Numbers that no float64 has, or no whole number is.
experiment "numbers_not_kept" {
  seed       = 9007199254740993
  replicates = 3.00000000000000000001
}

job "a" {
  command = ["train"]
  epochs  = "Inf"
  runtime {
    epoch      = "1s"
    final_loss = "Inf"
    speedup    = amdahl("Inf")
  }
}

job "b" {
  command = ["train"]
  epochs  = 1e400
  runtime {
    epoch      = "1s"
    final_loss = 1e400
  }
}

workload "w" {
  submit { job = job.a }
  submit { job = job.b }
}

hardware "h" {
  engine  = "simulated"
  threads = 9007199254740993
}

policy "fcfs" { order = "fcfs" }
