# A running job gives way: an order that sets the cores of all jobs anew in each round, on real training.
#
#   tfexp run experiments/elastic_real.hcl        (about 2 minutes on two cores)
#
# A long training holds both cores, and short ones come one after the other. Under FCFS they wait for its end. Optimus and
# Pollux, policies of clusters of GPUs, divide the cores at the start of each round by how fast each job is on them, which
# samples on one core and on two have shown: the long job is resized while it trains, and nobody is stopped or started
# anew. Each cell is simulated from the samples too: the report counts the decisions that are the same.

experiment "elastic_real" {
  description = "How much earlier are short jobs done when the long one that runs gives way in each round, what does it pay, and are the decisions those of the simulation?"
  seed        = 5
  replicates  = 3
}

variable "round" {
  type        = duration
  default     = "1200ms"
  description = "The time between decisions"
}

job "long" {
  builtin "mlp" {
    hidden = [256, 128]
    batch  = 256
  }
  epochs    = 330
  threads   = min(2, host.threads)
  malleable = true
}

job "short" {
  builtin "mlp" {
    hidden = [256, 128]
    batch  = 256
  }
  epochs    = 32
  threads   = min(2, host.threads)
  malleable = true
}

workload "one_after_the_other" {
  submit { job = job.long }
  submit {
    job          = job.short
    count        = 2
    start        = "1s"
    interarrival = "3600ms"
  }
}

hardware "this_machine" {
  engine  = "process"
  threads = min(2, host.threads)
}

policy "fcfs" { order = "fcfs" }

policy "optimus" {
  order  = "optimus"
  rounds = var.round
}

# Nothing is started anew, so a change costs nothing.
policy "pollux" {
  order         = "pollux"
  rounds        = var.round
  restart_delay = "0s"
}

# One core and two are sampled, for the speed on each.
profile {
  fraction = 0.1
  repeats  = 2
}

estimate { model = "auto" }

# What do the short jobs gain, and what does the long one pay?
compare "mean_jct" {
  baseline = policy.fcfs
  by       = "class"
}

compare "mean_jct" {
  baseline = policy.fcfs
  metrics  = ["makespan"]
}

threshold "mean_jct_s" { fidelity_pct = 10 }
