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
  }
}

job "b" {
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

workload "w" {
  submit { job = job.c }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }
