# How fast do workers with parameter servers train, and can the speed of large clusters be told from small ones?
#
#   tfexp run experiments/papers/cluster_speed/cluster_speed.hcl
#   tfexp run experiments/papers/cluster_speed/cluster_speed.hcl -var table=mine.csv -var model=resnet -var gpu=V100
#
# takes a few seconds. The table is of "Characterizing and Modeling Distributed Training with Transient Cloud GPU Servers"
# (ICDCS 2020); see README.md. The report says how well the law that is fitted to it predicts clusters of 5 workers or more
# that are left out, beside a law without a limit of the parameter servers and a straight line.

variable "table" {
  type        = string
  default     = "steps_per_s.csv"
  description = "A table with the columns model, gpu, parameter_servers, workers and steps_per_s"
}

variable "model" {
  type        = string
  default     = "res32"
  description = "The model that is simulated"
}

variable "gpu" {
  type        = string
  default     = "p100"
  description = "The GPUs that are simulated"
}

experiment "cluster_speed" {
  description = "How much faster do more workers train, with one parameter server and with two?"
  replicates  = 1
}

job "training" {
  command = ["train"]
  steps   = 64000
  role "worker" {
    count = each.workers
    gpus  = 1
  }
  role "ps" {
    count   = each.ps
    threads = 0
  }
  runtime {
    cluster {
      file  = var.table
      model = var.model
    }
  }
}

workload "one" {
  submit { job = job.training }
}

hardware "cloud" {
  engine = "simulated"
  node "worker" {
    count   = each.workers
    threads = 1
    gpus    = 1
    gpu     = var.gpu
  }
}

policy "fcfs" { order = "fcfs" }

matrix {
  ps      = [1, 2]
  workers = [1, 2, 4, 8, 16]
}

compare "makespan" { baseline = { workers = 1 } }
compare "makespan" { baseline = { ps = 1 } }

plot "cluster_speed" {}

plot "series" {
  metric = "makespan"
  x      = "workers"
}
