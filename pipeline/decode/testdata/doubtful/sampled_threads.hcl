experiment "sampled_threads" {}

job "wide" {
  command = ["true"]
  epochs  = 10
  threads = 8
}

job "parts" {
  command = ["true"]
  epochs  = 10
  role "worker" {
    count   = 3
    threads = 2
  }
}

job "fits" {
  command = ["true"]
  epochs  = 10
  threads = 4
}

job "given" {
  command = ["true"]
  epochs  = 10
  threads = 16
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.wide }
  submit { job = job.parts }
  submit { job = job.fits }
  submit { job = job.given }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
