# Training with a parameter server on servers that are taken away: two parts of this machine, lost at drawn instants.
#
#   tfexp run experiments/revocations_real.hcl
#
# Each real cell is simulated beside, with the same losses (the report's section on fidelity compares them).

experiment "revocations_real" {
  description = "What do revocations cost training with a parameter server, and does the simulation agree?"
  seed        = 5
  replicates  = 3
}

hardware "servers" {
  engine = "process"
  node "chief" {
    threads       = 1
    lifetime      = exponential("20s")
    replace_delay = "500ms"
    price         = 0.256
  }
  node "worker" {
    threads       = 1
    lifetime      = exponential("10s")
    warning       = "500ms"
    replace_delay = "500ms"
    price         = 0.256
  }
}

# The parameter server is beside worker 0. The other worker may be missing; when the server of the first is lost,
# the job goes on from its checkpoint.
job "cnn" {
  builtin "cnn" {}
  epochs = 40
  checkpoint {
    every   = "1s"
    cost    = "10ms"
    restore = "100ms"
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

workload "one" {
  submit { job = job.cnn }
}

policy "fcfs" { order = "fcfs" }
