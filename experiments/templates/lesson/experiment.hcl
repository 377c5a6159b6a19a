# Four jobs on one core, small enough to work out by hand: who waits how long under which policy?
#
#   tfexp run FILE

experiment "lesson" {
  description = "Four jobs on one core: what do turns of 1, 2 and 4 seconds cost and bring?"
  replicates  = 1 # nothing is drawn at random: one run is all
}

variable "long" {
  type        = number
  default     = 6
  description = "how many seconds job A runs"
}

# Nothing is started: these names stand for programs that run for as many seconds as they have epochs.
job "A" {
  command = ["A"]
  epochs  = var.long
  runtime { epoch = "1s" }
}

job "B" {
  command = ["B"]
  epochs  = 3
  runtime { epoch = "1s" }
}

job "C" {
  command = ["C"]
  epochs  = 1
  runtime { epoch = "1s" }
}

job "D" {
  command = ["D"]
  epochs  = 4
  runtime { epoch = "1s" }
}

workload "four" {
  submit {
    job = job.A
    at  = ["0s"]
  }
  submit {
    job = job.B
    at  = ["1s"]
  }
  submit {
    job = job.C
    at  = ["2s"]
  }
  submit {
    job = job.D
    at  = ["3s"]
  }
}

variable "switch" {
  type        = duration
  default     = "0s"
  description = "what it costs to go on with a job that was paused"
}

hardware "one_core" {
  engine  = "simulated"
  threads = 1
  overheads { resume = var.switch }
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
policy "srtf" { order = "srtf" }

policy "rr" {
  order   = "round_robin"
  quantum = each.quantum
}

# Only rr reads the quantum: the others have one cell each.
matrix {
  quantum = ["1s", "2s", "4s"]
}

compare "mean_waiting" { baseline = policy.fcfs }

# Who pays? Each job is a class of its own.
compare "mean_waiting" {
  baseline = policy.fcfs
  by       = "class"
}
