# Parts of this machine that are taken away.
experiment "servers" { replicates = 1 }

job "parts" {
  builtin "cnn" {}
  epochs = 40
  checkpoint {
    every   = "daly"
    cost    = "2s"
    restore = "1s"
  }
  role "worker" {
    count   = 2
    elastic = true
  }
  role "ps" {
    count   = 1
    threads = 0
  }
}

workload "a" {
  submit { job = job.parts }
}

hardware "servers" {
  engine = "process"
  node "chief" {
    threads       = 1
    lifetime      = exponential("5m")
    replace_delay = "1s"
    price         = 0.25
  }
  node "worker" {
    threads  = 1
    lifetime = exponential("3m")
    warning  = "500ms"
    price    = 0.5
  }
}

policy "fcfs" { order = "fcfs" }

matrix {
  include {
    workload = workload.a
    hardware = hardware.servers
    policy   = policy.fcfs
  }
}

estimate { model = "auto" }
