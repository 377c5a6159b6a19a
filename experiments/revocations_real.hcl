# Training with a parameter server on servers that are taken away: two parts of this machine, lost at drawn instants.
#
#   tfexp run experiments/revocations_real.hcl        (about 3 minutes on two cores)
#
# Each real cell is simulated beside, with the same losses (the report's section on fidelity compares them, and the threshold
# below states by how much makespan and mean JCT may differ). A worker that is lost is missing until its server is
# replaced; when the server of the first worker is lost, the job goes on from its checkpoint.

experiment "revocations_real" {
  description = "What do revocations cost training with a parameter server, and does the simulation agree?"
  seed        = 5
  replicates  = 4
}

variable "epochs" {
  type    = number
  default = 250
}

hardware "servers" {
  engine = "process"
  node "chief" {
    threads       = 1
    lifetime      = exponential("25s")
    replace_delay = "1s"
    price         = 0.256
  }
  node "worker" {
    threads       = 1
    lifetime      = exponential("15s")
    warning       = "500ms"
    replace_delay = "1s"
    price         = 0.256
  }
}

# The parameter server is beside worker 0.
job "cnn" {
  builtin "cnn" {}
  epochs = var.epochs
  checkpoint {
    every = "2s"
    cost  = "5ms"
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

# With both workers, and with one: what is left of the job's speed while the other is missing.
profile {
  epochs  = [10, 30]
  repeats = 2
}

estimate { model = "auto" }

threshold "makespan_s" { fidelity_pct = 10 }
threshold "mean_jct_s" { fidelity_pct = 10 }
