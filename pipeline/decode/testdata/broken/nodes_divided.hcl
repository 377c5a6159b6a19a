experiment "broken" {}

job "six" {
  threads = 6
  gpus    = 6
  gpu     = "V100"
  command = ["true"]
  epochs  = 1
  runtime {
    epoch = "10s"
  }
}

job "ten" {
  threads = 10
  gpus    = 10
  command = ["true"]
  epochs  = 1
  runtime {
    epoch = "10s"
  }
}

workload "w" {
  submit {
    job   = job.six
    count = 2
  }
  submit {
    job = job.ten
  }
}

hardware "m" {
  engine = "simulated"
  node "n" {
    count   = 2
    threads = 8
    gpus    = 4
    gpu     = "V100"
    rack    = "r"
  }
  node "on_request" {
    threads = 4
    acquire = "on_request"
    startup = "10s"
  }
}

policy "consolidated" {
  order      = "fcfs"
  nodes      = "consolidated"
  allocation = "max_prop"
}

policy "strict" {
  order = "fcfs"
  nodes = "packed"
}

policy "any" {
  order = "fcfs"
  nodes = "any"
}
