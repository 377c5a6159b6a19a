experiment "roles" {}

job "train" {
  builtin "cnn" {}
  epochs = 4
  runtime { epoch = "2s" }
  role "chief" { count = 1 }
  role "worker" {
    count   = 3
    threads = 2
    elastic = true
    vital   = true
    gpus    = 1
    gpu     = "V100"
    min     = 2
  }
  role "ps" {
    count   = 1
    threads = 0
  }
}

workload "w" {
  submit { job = job.train }
}

hardware "h" {
  engine = "simulated"
  node "n" {
    count   = 3
    threads = 4
    gpus    = 1
    gpu     = "V100"
  }
}

policy "fcfs" { order = "fcfs" }
