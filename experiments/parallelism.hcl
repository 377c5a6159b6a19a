# Run time against inter-op and intra-op threads: how many of each should a
# TensorFlow training have?
#
#   make python-jobs
#   tfexp run experiments/parallelism.hcl
#
# In containers, with the image of `sudo jobs/build-image.sh tensorflow`:
#
#   tfexp run experiments/parallelism.hcl -var engine=docker
#
# Each training has the whole machine; its thread pools are what varies. A pool
# can be larger than the machine: it then shows what too many threads cost.

experiment "parallelism" {
  description = "How does the run time of three networks depend on TensorFlow's inter-op and intra-op threads, and which split is best for each?"
  seed        = 3
  replicates  = 3
}

variable "models" {
  type    = list(string)
  default = ["cnn", "lenet", "googlenet"]
}

variable "engine" {
  type    = string
  default = "process"
  validation {
    condition     = contains(["process", "docker"], var.engine)
    error_message = "engine must be process or docker"
  }
}

variable "length" {
  type        = number
  default     = 1
  description = "longer trainings make the start-up count for less: 2 doubles them"
}

locals {
  # About as long on one thread.
  passes = { mlp = 20, cnn = 4, lenet = 4, googlenet = 2 }
  intra  = host.threads < 8 ? [1, 2, 4] : [1, 2, 4, 8]
}

job "training" {
  image = var.engine == "docker" ? "tfexp/tensorflow:latest" : null
  command = [
    var.engine == "docker" ? "./run.sh" : "../jobs/tensorflow/run.sh", "--model", each.model, "--passes", tostring(local.passes[each.model]),
    "--inter-threads", tostring(each.inter), "--intra-threads", tostring(each.intra),
  ]
  files = [
    "../jobs/tensorflow/train.py", "../jobs/tensorflow/models.py", "../jobs/tensorflow/requirements.txt",
    "../jobs/tfexp_job/tfexp_job.py", "../jobs/digits/digits.py",
  ]
  epochs  = 6 * var.length
  threads = host.threads
}

workload "alone" {
  submit { job = job.training }
}

hardware "this_machine" {
  engine = var.engine
}

policy "fcfs" { order = "fcfs" }

matrix {
  model = var.models
  inter = [1, 2]
  intra = local.intra
}

# Which split is best? Each against one thread in each pool.
compare "mean_service" { baseline = { inter = 1, intra = 1 } }

plot "heatmap" {
  metric = "mean_service"
  x      = "intra"
  y      = "inter"
}

plot "speedup" { x = "intra" }

plot "metrics" { metric = "mean_service" }
