# Spot servers are cheap and go away. A job has a deadline: when is it worth while to wait
# for a spot server, and when has it to go on demand? The strategies of Z. Wu and others,
# "Can't Be Late: Optimizing Spot Instance Savings under Deadlines" (NSDI 2024), on 20
# recorded windows of one zone, with the costs that the authors' own simulator gives beside
# ours: they agree to a tenth of a cent.
#
#   tfexp run experiments/papers/cant_be_late.hcl         about 5 s
#
# Each replicate has another window of the record, so comparisons are paired by window. One
# job of 48 h; 12 minutes are lost at each start on another server, and no work; a tick of
# ten minutes that has begun is paid.
#
# `patient` is our own: it makes the choice with the least expected cost, by the spells with and without spot servers that the
# job has seen. Nothing in it was chosen by these records: it was developed on drawn processes, on which a test holds it to at
# most 1% more than uniform_progress in each setting, and 3% less in the mean. No deadline is missed. `-var instance=k80_1`
# has another type of the zone.
#
# Your own zones: a file with the columns first_tick, ticks and available (or time_s and
# available), an instance and a trace:
#
#   tfexp run … -var zone=my_zone.csv -var instance=p3 -var step=5m -var windows=8
#
# More zones at a time are more spot nodes with regions of their own; `regions` of a policy
# says which to try first. Gaps in a record in ticks count as times without a server.

experiment "cant_be_late" {
  description = "Spot or on demand under a deadline: which strategy costs the least on recorded availability?"
  seed        = 1
  replicates  = var.windows
}

variable "zone" {
  type        = string
  default     = "cant_be_late/us-west-2a.csv"
  description = "The record of availability"
}

variable "instance" {
  type    = string
  default = "v100_1"
}

variable "windows" {
  type        = number
  default     = 20
  description = "How many windows the record has"
}

variable "step" {
  type        = string
  default     = "10m"
  description = "The tick of the record, and of the decisions"
}

job "training" {
  builtin "mlp" {}
  epochs   = 48
  threads  = 1
  gpus     = 1
  deadline = "${each.deadline_h}h"
  runtime { epoch = "1h" }
  checkpoint { every = "1s" } # a loss costs no work, only the start
}

workload "one" {
  submit { job = job.training }
}

hardware "zone" {
  engine = "simulated"
  overheads { start = "12m" }
  billing { unit = var.step }

  node "spot" {
    threads  = 1
    gpus     = 1
    market   = "spot"
    price    = 0.9731
    acquire  = "on_request"
    lifetime = availability(var.zone, { instance = var.instance }, { window = "trace", step = var.step })
  }
  node "on_demand" {
    threads = 1
    gpus    = 1
    market  = "on_demand"
    price   = 3.06
    acquire = "on_request"
  }
}

policy "on_demand" {
  order        = "fcfs"
  provisioning = "on_demand"
  changeover   = "12m" # a loss costs no work here, only the start
}

policy "greedy" {
  order        = "fcfs"
  provisioning = "greedy"
  changeover   = "12m" # a loss costs no work here, only the start
  tick         = var.step
}

policy "uniform_progress" {
  order        = "fcfs"
  provisioning = "uniform_progress"
  changeover   = "12m" # a loss costs no work here, only the start
  tick         = var.step
}

policy "failover" {
  order        = "fcfs"
  provisioning = "failover"
  changeover   = "12m" # a loss costs no work here, only the start
  tick         = var.step
}

policy "patient" {
  order        = "fcfs"
  provisioning = "patient"
  changeover   = "12m" # a loss costs no work here, only the start
  tick         = var.step
}

matrix {
  deadline_h = [52, 70]
}

compare "cost_usd" { baseline = policy.uniform_progress }

reference "authors" {
  file  = "cant_be_late/expected.csv"
  where = { zone = var.zone, instance = var.instance } # other zones have no published costs
  doc   = "Costs of the authors' own simulator."
}
