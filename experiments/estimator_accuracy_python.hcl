# How well short samples predict whole runs of TensorFlow and PyTorch: one network
# in both, one job at a time, on one core and on two, each predicted from samples
# of 3% of its epochs in all. These programs take seconds to start, so a plain
# share of the sample's time would say far too much.
#
#   make python-jobs
#   tfexp run experiments/estimator_accuracy_python.hcl
#
# With one of them alone: -var 'frameworks=["pytorch"]'

experiment "estimator_accuracy_python" {
  description = "How well do samples of 3% predict how long training in TensorFlow and PyTorch takes?"
  seed        = 6
  replicates  = 3
}

variable "frameworks" {
  type    = list(string)
  default = ["tensorflow", "pytorch"]
}

variable "epochs" {
  type    = number
  default = 100
}

job "cnn" {
  command = ["../jobs/${each.framework}/run.sh", "--model", "cnn"]
  files = [
    "../jobs/${each.framework}/train.py", "../jobs/tfexp_job/tfexp_job.py", "../jobs/digits/digits.py",
  ]
  epochs  = var.epochs
  threads = each.cores
}

workload "alone" {
  submit { job = job.cnn }
}

hardware "this_machine" {
  engine  = "process"
  threads = each.cores
}

policy "one_at_a_time" { order = "fcfs" }

matrix {
  framework = var.frameworks
  cores     = host.threads > 1 ? [1, 2] : [1]
}

profile {
  samples  = 2
  fraction = 0.01
}

estimate {
  model  = "auto"
  models = ["linear", "scaling"]
}
