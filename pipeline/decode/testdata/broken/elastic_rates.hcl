experiment "broken" {}

job "elastic" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    gpu_rate = { K80 = 1, V100 = 4 }
    elastic { measurements = "../good/elastic/small" }
  }
}

workload "w" {
  submit { job = job.elastic }
}

hardware "h" {
  engine = "simulated"
  node "n" {
    threads = 4
    gpus    = 4
    gpu     = "P100"
  }
}

policy "sia" {
  order  = "sia"
  rounds = "60s"
}
