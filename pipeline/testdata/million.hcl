experiment "million" {
  description = "A million jobs through a queue with many servers: how fast is the simulation?"
  seed        = 1
  replicates  = 1
  records     = var.records
}

variable "records" {
  type    = string
  default = "all"
}

variable "jobs" {
  type    = number
  default = 1000000
}

variable "backfill" {
  type    = string
  default = "none"
}

# Load 0.95: a job of 100 s on the mean every 100 s / (1024 × 0.95).
job "served" {
  command = ["true"]
  epochs  = 1
  runtime { epoch = exponential("100s") }
}

workload "poisson" {
  submit {
    job          = job.served
    count        = var.jobs
    interarrival = exponential("102796us")
  }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 1024
}

policy "fcfs" {
  order    = "fcfs"
  backfill = var.backfill
}
