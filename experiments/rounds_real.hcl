# Policies of rounds on real training: two nodes on one machine share five jobs, which go on elsewhere from checkpoints.
#
#   tfexp run experiments/rounds_real.hcl        (about 2 minutes on two cores)
#
# At the start of each round the policy decides which jobs run, and where. A job that is to give way writes a checkpoint and
# ends (pause = "checkpoint"), and is started again where it is given room, as schedulers of clusters do. Each cell is
# simulated from samples too: the report counts the decisions that are the same, and the thresholds below
# state by how much makespan and mean JCT may differ.

experiment "rounds_real" {
  description = "Does a scheduler in rounds decide for real as in its simulation, when jobs move by checkpoint and restart?"
  seed        = 3
  replicates  = 3
}

variable "epochs" {
  type    = number
  default = 500
}

job "long" {
  builtin "mlp" {
    hidden = [64]
    batch  = 64
  }
  epochs = var.epochs
}

job "short" {
  builtin "softmax" { passes = 15 }
  epochs = var.epochs / 5
}

workload "five" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 3
    interarrival = "700ms"
  }
}

hardware "nodes" {
  engine = "process"
  pause  = "checkpoint"
  node "a" { threads = 1 }
  node "b" { threads = 1 }
}

policy "max_min" {
  order  = "max_min"
  rounds = "2s"
}

policy "tiresias" {
  order    = "tiresias"
  rounds   = "2s"
  demotion = "3s"
}

profile {
  fraction = 0.1
  repeats  = 2
}

estimate { model = "auto" }

compare "mean_jct" { baseline = policy.max_min }

threshold "makespan_s" { fidelity_pct = 10 }
threshold "mean_jct_s" { fidelity_pct = 10 }
