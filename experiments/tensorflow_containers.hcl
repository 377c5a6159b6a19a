# TensorFlow programs in containers: two orders, three ways to share the
# cores, and two ways in which a program lives with being resized.
#
# About 13 minutes on two cores: 36 cells of about 20 seconds.
#
#   make python-jobs && sudo jobs/build-image.sh tensorflow
#   tfexp run experiments/tensorflow_containers.hcl

experiment "tensorflow_containers" {
  description = "What do elastic shares of the cores bring to TensorFlow programs in containers, if the programs keep their thread pools, and if they follow?"
  seed        = 4
  replicates  = var.replicates
}

variable "replicates" {
  type        = number
  default     = 3
  description = "Replicates; a verdict needs three"
}

variable "passes" {
  type        = number
  default     = 6
  description = "Passes over the digits in an epoch: the length of the jobs"
}

variable "epochs" {
  type        = number
  default     = 6
  description = "Epochs of each job: a program that follows is resized after one"
}

variable "allocations" {
  type    = list(string)
  default = ["strict", "max_prop", "always_attend"]
}

variable "variants" {
  type    = list(string)
  default = ["original", "malleable"]
}

# original: the cores change under the program, its thread pools stay.
# malleable: the program saves itself after an epoch and starts with other pools.
job "cnn" {
  image     = "tfexp/tensorflow:latest"
  command   = ["./run.sh", "--model", "cnn", "--passes", var.passes, "--variant", each.variant]
  epochs    = var.epochs
  threads   = 2
  malleable = true
  memory    = "2GiB"
  retries   = 1
}

job "mlp" {
  image     = "tfexp/tensorflow:latest"
  command   = ["./run.sh", "--model", "mlp", "--passes", var.passes, "--variant", each.variant]
  epochs    = var.epochs
  threads   = 1
  malleable = true
  memory    = "2GiB"
  retries   = 1
}

workload "requests" {
  trace { file = "requests/containers.requests" }
}

hardware "containers" {
  engine  = "docker"
  threads = min(2, host.threads)
}

policy "fcfs" {
  order      = "fcfs"
  allocation = each.allocation
}

policy "priority" {
  order      = "priority"
  allocation = each.allocation
}

matrix {
  policy     = [policy.fcfs, policy.priority]
  allocation = var.allocations
  variant    = var.variants
}

# What do elastic shares bring?
compare "mean_jct" {
  baseline = { allocation = var.allocations[0] }
  metrics  = ["makespan"]
}

# Does it matter whether the program follows?
compare "mean_jct" { baseline = { variant = var.variants[0] } }

# What does the urgent job gain, and who pays?
compare "mean_jct" { baseline = policy.fcfs }
