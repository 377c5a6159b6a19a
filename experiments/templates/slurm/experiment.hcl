# Jobs as steps of an allocation of a Slurm cluster; and sweep.hcl, whose cells can be tasks of an array.
#
#   tfexp doctor       says whether there is a cluster, and whether its nodes see this folder
#   tfexp run FILE     submits an allocation of two nodes, and gives it back at the end
#
# Started in a job of yours (sbatch, salloc), tfexp uses the nodes of that job.

experiment "slurm" {
  description = "Do short jobs wait less when they take turns with long ones?"
  seed        = 1 # the same seed gives the same arrivals
  replicates  = 3 # each cell runs this often; comparisons need at least 3
}

# A program that tfexp brings along. One of yours is a command, such as ["python3", "train.py"], in a folder that the
# nodes see; it is started with the number of epochs in TFEXP_EPOCHS.
job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 120
  threads = 2
}

job "short" {
  builtin "softmax" {}
  epochs  = 60
  threads = 1
}

workload "mixed" {
  submit {
    job   = job.long
    count = 4
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("500ms")
  }
}

# What sbatch would be told: partition, account, qos, constraint, gres; all else in sbatch = { … }.
hardware "allocation" {
  engine  = "slurm"
  nodes   = var.nodes
  threads = 2     # cores of each node
  time    = "30m" # of the allocation; when it is over, another one is asked for
}

variable "nodes" {
  type    = number
  default = 2
}

policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = "500ms"
}

compare "mean_jct" {
  baseline = policy.fcfs
  by       = "class"
}
