experiment "alternatives" { seed = 1 }

job "nowhere" {
  command = ["train"]
  epochs  = 10
  threads = 16
  runtime { epoch = "8s" }
  alternative "gpu" {
    gpus = 1
    gpu  = "A100"
    runtime { epoch = "1s" }
  }
}

job "no_rate" {
  command = ["train"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = "8s"
    gpu_rate = { V100 = 2 }
  }
}

job "either" {
  command = ["train"]
  epochs  = 10
  threads = 4
  runtime { epoch = "8s" }
  alternative "narrow" {}
}

workload "w" {
  submit { job = job.nowhere }
  submit { job = job.no_rate }
}

workload "resized" {
  submit { job = job.either }
  resize {
    at      = "1s"
    job     = "either-1"
    threads = 2
  }
}

workload "traced" {
  trace {
    file = "../cluster.swf"
    job  = job.either
  }
}

hardware "h" {
  engine = "simulated"
  node "old" {
    threads = 8
    gpus    = 1
    gpu     = "K80"
  }
}

policy "fcfs" { order = "fcfs" }

policy "shares" {
  order      = "fcfs"
  allocation = "max_prop"
}
