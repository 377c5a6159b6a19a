# Spot or on demand under a deadline, for real: a training on a part of this machine that is taken away as a recorded spot
# server was. Which strategy holds the deadline, and for how much money?
#
#   tfexp run experiments/strategies_real.hcl         (about 2 minutes on two cores)
#
# experiments/papers/cant_be_late.hcl asks the same of recorded weeks, in simulation. Here a record's window is played in
# seconds: what is lost is the program itself, which goes on from its last checkpoint, on the same server when it is back,
# or on one on demand. Each real cell is simulated beside, with the same losses, and the report compares them.

experiment "strategies_real" {
  description = "Spot or on demand under a deadline, on real training: which strategy holds it, for how much?"
  seed        = 3
  replicates  = var.windows
}

variable "windows" {
  type        = number
  default     = 3
  description = "How many windows of the record are played"
}

variable "epochs" {
  type    = number
  default = 600
}

job "training" {
  builtin "mlp" { hidden = [64, 32] }
  epochs   = var.epochs
  threads  = 1
  deadline = "10500ms"
  checkpoint {
    every = "500ms"
    cost  = "5ms"
  }
}

workload "one" {
  submit { job = job.training }
}

hardware "zone" {
  engine = "process"
  billing { unit = "1s" }

  node "spot" {
    threads  = 1
    market   = "spot"
    price    = 0.9731
    acquire  = "on_request"
    lifetime = availability("papers/cant_be_late/us-west-2a.csv", { instance = "k80_1" }, { window = "trace", step = "25ms" })
  }
  node "on_demand" {
    threads = 1
    market  = "on_demand"
    price   = 3.06
    acquire = "on_request"
  }
}

policy "on_demand" {
  order        = "fcfs"
  provisioning = "on_demand"
}

policy "greedy" {
  order        = "fcfs"
  provisioning = "greedy"
  tick         = "250ms"
}

policy "uniform_progress" {
  order        = "fcfs"
  provisioning = "uniform_progress"
  tick         = "250ms"
}

policy "patient" {
  order        = "fcfs"
  provisioning = "patient"
  tick         = "250ms"
}

compare "cost_usd" { baseline = policy.on_demand }
compare "mean_jct" { baseline = policy.on_demand }
