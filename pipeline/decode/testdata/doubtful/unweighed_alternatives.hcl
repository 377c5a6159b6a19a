experiment "ways" { replicates = 1 }

job "j" {
  builtin "softmax" {}
  threads = 1
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

policy "trap" {
  order    = "sjf"
  backfill = "easy"
}

policy "trap_too" { order = "srsf" }

policy "weighed" { order = "sjf" }

policy "meant" {
  order     = "sjf"
  placement = "first"
}

policy "pairs" {
  order     = "sjf"
  placement = "pairs"
}
