# How much longer does a training take until its loss reaches a target? Real training
# of the built-in programs, each until its target loss; after 10, 20, 40 and 60% of
# each run, five models predict the rest from the losses until then.
#
#   tfexp run experiments/remaining_time.hcl
#
# remaining.csv has each prediction; the report has the mean relative error and how
# often the 90% intervals held, by model. The model combined is the one by which
# policies with estimates = "loss_curve" decide. The job out_of_reach does not come to
# its target: it ends after its epochs, and the report says so.
# remaining_time_python.hcl does the same with TensorFlow and PyTorch.

experiment "remaining_time" {
  description = "How well do models of the loss curve predict the time that remains to a target loss?"
  seed        = 11
  replicates  = 1
}

job "softmax" {
  builtin "softmax" { seed = each.seed }
  epochs      = 200
  target_loss = 0.1
}

job "softmax_large_batch" {
  builtin "softmax" {
    batch = 64
    seed  = each.seed
  }
  epochs      = 250
  target_loss = 0.1
}

job "svm" {
  builtin "svm" { seed = each.seed }
  epochs      = 200
  target_loss = 0.05
}

job "svm_slow" {
  builtin "svm" {
    learning_rate = 0.0005
    seed          = each.seed
  }
  epochs      = 250
  target_loss = 0.05
}

job "mlp" {
  builtin "mlp" {
    batch = 64
    seed  = each.seed
  }
  epochs      = 200
  target_loss = 0.05
}

job "mlp_small" {
  builtin "mlp" {
    hidden = [32]
    seed   = each.seed
  }
  epochs      = 200
  target_loss = 0.05
}

job "mlp_deep" {
  builtin "mlp" {
    hidden        = [32, 32]
    learning_rate = 0.0005
    seed          = each.seed
  }
  epochs      = 200
  target_loss = 0.02
}

job "mlp_sgd" {
  builtin "mlp" {
    optimizer     = "sgd"
    learning_rate = 0.002
    seed          = each.seed
  }
  epochs      = 200
  target_loss = 0.05
}

job "cnn" {
  builtin "cnn" {
    learning_rate = 0.0003
    seed          = each.seed
  }
  epochs      = 120
  target_loss = 0.05
}

job "cnn_small" {
  builtin "cnn" {
    filters = [4, 8]
    hidden  = 32
    batch   = 128
    seed    = each.seed
  }
  epochs      = 120
  target_loss = 0.05
}

job "out_of_reach" {
  builtin "softmax" {
    learning_rate = 0.0003
    seed          = each.seed
  }
  epochs      = 60
  target_loss = 0.05
}

workload "trainings" {
  submit { job = job.softmax }
  submit { job = job.softmax_large_batch }
  submit { job = job.svm }
  submit { job = job.svm_slow }
  submit { job = job.mlp }
  submit { job = job.mlp_small }
  submit { job = job.mlp_deep }
  submit { job = job.mlp_sgd }
  submit { job = job.cnn }
  submit { job = job.cnn_small }
  submit { job = job.out_of_reach }
}

hardware "this_machine" {
  engine  = "process"
  threads = host.threads
}

policy "fcfs" { order = "fcfs" }

matrix {
  workload = [workload.trainings]
  hardware = [hardware.this_machine]
  policy   = [policy.fcfs]
  seed     = [21, 22]
}
