experiment "alternatives" { seed = 1 }

job "either" {
  command = ["train"]
  epochs  = 10
  threads = 4
  memory  = "2GiB"
  runtime { epoch = "8s" }
  alternative "gpu" {
    threads = { inter = 1, intra = 1 }
    gpus    = 1
    memory  = "1GiB"
    runtime {
      epoch    = "1s"
      gpu_rate = { K80 = 1, V100 = 4.2 }
    }
  }
  alternative "narrow" {}
}

job "typed" {
  command = ["train"]
  epochs  = 10
  gpus    = 2
  gpu     = "K80"
  runtime {
    epoch    = "4s"
    gpu_rate = { K80 = 2 }
  }
}

workload "w" {
  submit {
    job   = job.either
    count = 3
    user  = "ada"
  }
  submit { job = job.typed }
}

hardware "unlike" {
  engine = "simulated"
  node "old" {
    threads = 8
    gpus    = 2
    gpu     = "K80"
  }
  node "new" {
    threads = 8
    gpus    = 1
    gpu     = "V100"
  }
}

policy "allox" {
  order = "allox"
  alpha = 0.5
}

policy "sjf" {
  order     = "sjf"
  placement = "earliest_finish"
  estimates = noisy(0.1)
}
