# How much longer does a training in TensorFlow or PyTorch take until its loss
# reaches a target? As remaining_time.hcl, which has the built-in programs.
#
#   make python-jobs
#   tfexp run experiments/remaining_time_python.hcl
#
# With one of them alone: -var 'frameworks=["pytorch"]'

experiment "remaining_time_python" {
  description = "How well do models of the loss curve predict the time to a target loss in TensorFlow and PyTorch?"
  seed        = 12
  replicates  = 1
}

variable "frameworks" {
  type    = list(string)
  default = ["tensorflow", "pytorch"]
}

job "cnn" {
  command = [
    "../jobs/${each.framework}/run.sh", "--model", "cnn", "--batch", tostring(each.batch), "--learning-rate", "0.0003",
    "--seed", tostring(each.seed),
  ]
  files = [
    "../jobs/${each.framework}/train.py", "../jobs/tfexp_job/tfexp_job.py", "../jobs/digits/digits.py",
  ]
  flags       = true
  epochs      = 80
  target_loss = 0.05
}

workload "training" {
  submit { job = job.cnn }
}

hardware "this_machine" {
  engine  = "process"
  threads = 1
}

policy "fcfs" { order = "fcfs" }

matrix {
  framework = var.frameworks
  batch     = [128, 256]
  seed      = [31, 32]
}
