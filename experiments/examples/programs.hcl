# The built-in programs with all of their settings, in pairs of cells that run at the same time, each on its own cores.
experiment "programs" {
  description = "How much longer do two passes over the data take than one?"
  replicates  = 3
}

job "svm" {
  builtin "svm" {
    learning_rate  = 0.01
    regularization = 0.001
    optimizer      = "sgd"
    decay          = each.decay
    passes         = each.passes
    batch          = 64
    seed           = 3
  }
  epochs = 3
}

job "mlp" {
  builtin "mlp" {
    hidden       = [64, 32]
    blocks       = [1, 2]
    activation   = "relu"
    restart_rate = 0.001
  }
  epochs = 3
}

job "cnn" {
  builtin "cnn" {
    filters = [8]
    hidden  = 32
    blocks  = [1, 1]
  }
  epochs = 1
}

workload "all" {
  submit { job = job.svm }
  submit { job = job.mlp }
  submit { job = job.cnn }
}

hardware "this_machine" {
  engine = "process"
  duet   = true
}

policy "fcfs" { order = "fcfs" }

# Two passes with a learning rate that falls as far in an epoch as in two of one pass.
matrix {
  zip {
    passes = [1, 2]
    decay  = [0.95, 0.9]
  }
}

profile { contention = "none" }

compare "makespan" { baseline = { passes = 1, decay = 0.95 } }
