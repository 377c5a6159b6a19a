experiment "broken" {}

job "j" {
  builtin "softmax" {}
  gpus    = 1
  epochs  = 10
  runtime { epoch = "2s" }

  alternative "cpu" {
    threads = 2
    runtime { epoch = "20s" }
  }
}

workload "w" {
  submit { job = job.j }
}

hardware "h" {
  engine  = "simulated"
  threads = 2
  gpus    = 1
}

policy "p" {
  order     = "srtf"
  replan    = true
  placement = "earliest_finish"
}
