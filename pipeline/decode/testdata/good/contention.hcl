experiment "contention" { replicates = 1 }

job "a" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "1s" }
}

workload "w" {
  submit {
    job   = job.a
    count = 4
  }
}

hardware "law" {
  engine  = "simulated"
  threads = 16
  contention {
    capacity  = each.capacity
    sharpness = 3
  }
}

hardware "measured" {
  engine  = "simulated"
  threads = 64
  contention {
    file             = "contention.csv"
    measured_threads = 16
    threads          = 16
  }
}

policy "fcfs" { order = "fcfs" }

matrix {
  capacity = [0.5, 1]
}
