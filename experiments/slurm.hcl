# Short jobs stuck behind long ones, on an allocation of a Slurm cluster: is the
# order by arrival or round robin better for them?
#
# It is the experiment of experiments/fcfs_vs_rr.hcl on three nodes. tfexp
# submits one allocation and runs the jobs as its steps; started within an
# allocation (salloc, sbatch), it uses that one. To try it on one machine:
#
#   eval "$(hardware/slurm/cluster.sh start)"
#   tfexp run experiments/slurm.hcl -var nodes=1
#   hardware/slurm/cluster.sh stop
#
# The nodes of that cluster share the cores of one machine, so one of them is all that it has; three would slow each
# other down, which the simulation beside the real run does not expect.
#
# About two and a half minutes.

experiment "slurm" {
  description = "Do short jobs wait less under round robin than under FCFS, on an allocation of a Slurm cluster?"
  seed        = 7
  replicates  = 3
}

variable "partition" {
  type    = string
  default = "main"
}

variable "nodes" {
  type    = number
  default = 3
}

variable "epochs" {
  type        = number
  default     = 480
  description = "Of a long job: some five seconds, several quanta; a short one has half as many, and fits into a quantum"
}

job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = var.epochs
  threads = 2
}

job "short" {
  builtin "softmax" {}
  epochs  = floor(var.epochs / 2)
  threads = 1
}

workload "mixed" {
  submit {
    job   = job.long
    count = 4
  }
  submit {
    job          = job.short
    count        = 8
    interarrival = exponential("1500ms")
  }
}

hardware "allocation" {
  engine    = "slurm"
  partition = var.partition
  nodes     = var.nodes
  threads   = 2
  time      = "30m"
}

policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}

# Longer samples than by default: the simulation beside each cell is to be near the real run.
profile {
  epochs  = [var.epochs / 12, var.epochs / 4]
  repeats = 2
}

matrix {
  workload = [workload.mixed]
  hardware = [hardware.allocation]
  policy   = [policy.fcfs, policy.rr]
}

compare "mean_jct" { baseline = policy.fcfs }

threshold "makespan_s" { fidelity_pct = 5 }
threshold "mean_jct_s" { fidelity_pct = 5 }
