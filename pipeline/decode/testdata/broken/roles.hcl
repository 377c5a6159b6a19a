experiment "roles" {}

job "a" {
  builtin "cnn" {}
  epochs  = 4
  threads = 3
  runtime { epoch = "2s" }
  role "worker" {
    threads = 2
    min     = 2
  }
  role "evaluator" {
    count   = 1
    elastic = true
    min     = 2
    gpu     = "V100"
  }
}

job "b" {
  builtin "mlp" {}
  epochs = 4
  runtime { epoch = "2s" }
  role "worker" {
    count = 2
    max   = 4
  }
  role "ps" {
    count   = 2
    elastic = true
    max     = 1
  }
}

job "e" {
  builtin "mlp" {}
  epochs = 4
  runtime { epoch = "2s" }
  role "worker" { count = 2 }
}

job "c" {
  command = ["true"]
  epochs  = 4
  runtime { epoch = "2s" }
  role "worker" {
    count   = 2
    threads = 3
  }
  role "ps" { count = 1 }
}

job "d" {
  command = ["true"]
  epochs  = 4
  runtime { epoch = "2s" }
  role "worker" {
    count = 1
    gpus  = 1
    gpu   = "V100"
  }
}

workload "w" {
  submit { job = job.c }
  submit { job = job.d }
}

hardware "h" {
  engine = "simulated"
  node "k80" {
    threads = 4
    gpus    = 1
    gpu     = "K80"
  }
}

policy "fcfs" { order = "fcfs" }
