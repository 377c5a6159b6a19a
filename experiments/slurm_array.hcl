# How does the waiting time grow with the load, under four policies? 1,000 cells
# of 1,000 jobs, more than one likes to wait for on one machine.
#
# Cells that do not run jobs for real are cheap, so many share a task of an array:
#
#   tfexp run experiments/slurm_array.hcl --on slurm
#   tfexp run experiments/slurm_array.hcl --on slurm --detach; tfexp status; tfexp resume
#
# Without --on slurm it runs here. About two minutes on six cores.

experiment "slurm_array" {
  description = "How does the waiting time grow with the load, under four policies?"
  seed        = 11
  replicates  = var.replicates
  records     = var.records
}

variable "records" {
  type        = string
  default     = "all"
  description = "\"metrics\" keeps no rows and events of jobs: cells share files"
}

variable "replicates" {
  type    = number
  default = 50
}

variable "jobs" {
  type    = number
  default = 1000
}

job "train" {
  command = ["train"]
  epochs  = 10
  threads = 2
  runtime {
    startup  = "2s"
    epoch    = exponential("6s")
    parallel = 0.9
  }
}

workload "arrivals" {
  submit {
    job          = job.train
    count        = var.jobs
    interarrival = exponential(each.gap)
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
policy "srtf" { order = "srtf" }

policy "rr" {
  order   = "round_robin"
  quantum = "10s"
}

matrix {
  workload = [workload.arrivals]
  hardware = [hardware.machine]
  policy   = [policy.fcfs, policy.sjf, policy.srtf, policy.rr]
  gap      = ["9s", "7s", "6s", "5.2s", "4.7s"] # loads of 0.5 to 0.9
}

compare "mean_waiting" { baseline = policy.fcfs }
