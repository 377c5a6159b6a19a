experiment "bad" {}

job "training" {
  builtin "mlp" {}
  epochs   = 4
  threads  = 1
  deadline = "9h"
  runtime { epoch = "1h" }
  checkpoint { every = "1m" }
}

workload "one" {
  submit { job = job.training }
}

hardware "cloud" {
  engine = "simulated"

  node "spot" {
    threads = 1
    market  = "spot"
    region  = "west"
    price   = 1
    lifetime = availability("availability_overlap.csv", {}, { step = "10m" })
    acquire = "on_request"
  }

  node "on_demand" {
    threads = 1
    market  = "on_demand"
    region  = "west"
    price   = 3
    acquire = "on_request"
  }
}

policy "rents" {
  order        = "fcfs"
  provisioning = "greedy"

}
