experiment "broken" {}

job "rigid" {
  command = ["true"]
  epochs  = 2
  runtime { epoch = "1s" }
}

job "least" {
  command   = ["true"]
  epochs    = 2
  malleable = true
  threads = {
    request = 2
    min     = 2
  }
  runtime { epoch = "1s" }
}

job "follows" {
  command   = ["true"]
  epochs    = 2
  threads   = 2
  malleable = true
  runtime { epoch = "1s" }
}

job "sampled" {
  command   = ["true"]
  epochs    = 2
  threads   = 2
  malleable = true
}

workload "sampled" {
  submit { job = job.sampled }
}

workload "rigid" {
  submit { job = job.rigid }
}

workload "least" {
  submit { job = job.least }
}

workload "asks" {
  submit { job = job.follows }
  resize {
    job     = "follows-1"
    at      = "1s"
    threads = 1
  }
}

hardware "cores" {
  engine  = "simulated"
  threads = 2
}

hardware "fixed" {
  engine  = "simulated"
  threads = 2
  lacks   = ["resize"]
}

policy "pollux" {
  order  = "pollux"
  rounds = "60s"
}

matrix {
  workload = [workload.sampled, workload.rigid, workload.least, workload.asks]
  hardware = [hardware.cores, hardware.fixed]
}
