experiment "placement" { seed = 1 }

job "j" {
  command = ["train"]
  epochs  = 10
  threads = 2
  runtime { epoch = "8s" }
  alternative "narrow" {}
}

workload "w" {
  submit { job = job.j }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "filled" {
  order     = "sjf"
  placement = "earliest_finish"
  backfill  = "easy"
}

policy "shared" {
  order      = "sjf"
  placement  = "earliest_finish"
  allocation = "max_prop"
}

policy "unknown" {
  order     = "sjf"
  placement = "earliest_finsh"
}

policy "alpha" {
  order = "fair"
  quantum = "1s"
  alpha = 0.5
}

policy "zero" {
  order = "allox"
  alpha = 0
}

policy "by_itself" {
  order      = "allox"
  backfill   = "easy"
  allocation = "max_prop"
  preemption = "pause"
  placement  = "earliest_finish"
}

policy "quantum" {
  order   = "allox"
  quantum = "1s"
}
