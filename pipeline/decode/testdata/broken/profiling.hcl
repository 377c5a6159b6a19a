experiment "profiling" { seed = 1 }

job "short" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "8s" }
}

job "real" {
  command = ["true"]
  epochs  = 1
}

workload "w" {
  submit { job = job.short }
}

workload "programs" {
  submit { job = job.real }
}

workload "bounded" {
  submit {
    job    = job.short
    budget = "5s"
  }
}

hardware "simulated" {
  engine  = "simulated"
  threads = 2
}

hardware "here" {
  engine  = "process"
  threads = 1
}

hardware "rented" {
  engine = "simulated"
  node "spot" {
    threads  = 2
    lifetime = exponential("1h")
  }
}

policy "sampled" {
  order     = "sjf"
  profiling = 0.03
}

policy "followed" {
  order     = "srtf"
  estimates = "online"
  profiling = 0.03
}

policy "promised" {
  order     = "sjf"
  backfill  = "conservative"
  profiling = 0.03
}
