experiment "broken" {}

job "j" {
  command = ["true"]
  epochs  = 1
  runtime {
    epoch = "10s"
  }
}

workload "w" {
  submit {
    job = job.j
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 2
}

policy "drf" {
  order      = "drf"
  preemption = "pause"
}

policy "parts" {
  order    = "equal_share"
  backfill = "easy"
}

policy "pairs" {
  order      = "sjf"
  placement  = "pairs"
  backfill   = "conservative"
  allocation = "always_attend"
}
