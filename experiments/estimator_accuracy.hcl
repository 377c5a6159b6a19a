# How well short samples predict whole runs: real training, one job at a time, on
# one core and on two, each predicted from samples of 3% of its epochs in all.
#
#   tfexp run experiments/estimator_accuracy.hcl
#
# accuracy.csv and the report have the errors of each model. On a machine that does
# nothing else the mean absolute error should stay below 8%, its standard deviation
# below 11%. estimator_accuracy_python.hcl does the same with TensorFlow and PyTorch.

experiment "estimator_accuracy" {
  description = "How well do samples of 3% predict how long real training takes, by model, job and number of threads?"
  seed        = 5
  replicates  = 4
}

job "mlp" {
  builtin "mlp" {
    hidden = [128, 64]
    batch  = 256
    passes = 3
  }
  epochs  = 300
  threads = each.cores
}

job "cnn" {
  builtin "cnn" {
    filters = [4, 8]
    hidden  = 32
    batch   = 128
    passes  = 3
  }
  epochs  = 300
  threads = each.cores
}

job "svm" {
  builtin "svm" {
    batch  = 1024
    passes = 60
  }
  epochs  = 300
  threads = each.cores
}

workload "each_once" {
  submit { job = job.mlp }
  submit { job = job.cnn }
  submit { job = job.svm }
}

# As many cores as a job asks for: no two jobs run side by side.
hardware "this_machine" {
  engine  = "process"
  threads = each.cores
}

policy "one_at_a_time" { order = "fcfs" }

matrix { cores = host.threads > 1 ? [1, 2] : [1] }

# Samples of 3 and 6 epochs of 300.
profile {
  samples  = 2
  fraction = 0.01
}

estimate {
  model  = "auto"
  models = ["linear", "scaling"]
}
