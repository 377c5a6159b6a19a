experiment "alternatives" { seed = 1 }

job "malleable" {
  command   = ["train"]
  epochs    = 10
  threads   = 2
  malleable = true
  runtime { epoch = "8s" }
  alternative "narrow" {}
}

job "named_alike" {
  command = ["train"]
  epochs  = 10
  threads = 2
  runtime { epoch = "8s" }
  alternative "cpu" { threads = 4 }
}

job "without_a_time" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "8s" }
  alternative "gpu" { gpus = 1 }
}

job "without_gpus" {
  command = ["train"]
  epochs  = 10
  gpu     = "V100"
  runtime {
    epoch    = "8s"
    gpu_rate = { V100 = 2 }
  }
}

job "values" {
  command = ["train"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = "8s"
    gpu_rate = { V100 = 0, K80 = "fast" }
  }
  alternative "wide" {
    threads = { request = 2, max = 4 }
    gpu     = "V100"
  }
}

job "no_rates" {
  command = ["train"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = "8s"
    gpu_rate = {}
  }
}

job "malleable_on_a_type" {
  command   = ["train"]
  epochs    = 10
  gpus      = 1
  gpu       = "V100"
  malleable = true
  runtime { epoch = "8s" }
}

workload "w" {
  submit { job = job.malleable }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
  gpu     = "V100"
}

policy "fcfs" { order = "fcfs" }
