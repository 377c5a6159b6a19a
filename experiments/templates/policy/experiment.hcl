# A scheduling policy of your own in Python, beside built-in ones.
#
#   python3 -m unittest                 tests my_policy.py
#   tfexp run FILE                      compares it, in simulation, in seconds
#   tfexp run FILE -var engine=process  compares it on real training, on two cores of this machine, in minutes
#
# To look into a decision: python3 my_policy.py --replay results/NAME/cells/CELL/policy.jsonl --at SECONDS

experiment "policy" {
  description = "Does my policy finish jobs sooner than first come, first served, and than shortest job first?"
  seed        = 1 # the same seed gives the same arrivals
  replicates  = var.engine == "simulated" ? 20 : 5
}

variable "engine" {
  type    = string
  default = "simulated"
}

job "long" {
  builtin "mlp" { hidden = [64] }
  epochs  = 20
  threads = 2
  runtime { epoch = exponential("0.3s") } # of simulated jobs; real ones are sampled
}

job "short" {
  builtin "softmax" {}
  epochs  = 10
  threads = 1
  runtime { epoch = exponential("0.1s") }
}

workload "mixed" {
  submit {
    job          = job.long
    count        = 4
    interarrival = exponential("2s")
  }
  submit {
    job          = job.short
    count        = 12
    interarrival = exponential("700ms")
  }
}

hardware "machine" {
  engine  = var.engine
  threads = 2
}

# The program decides which job starts. It is asked whenever something has happened.
policy "mine" {
  order   = "external"
  command = ["python3", "my_policy.py"]
  settings = {
    patience = "3s" # what the program does with it is up to it
  }
}

policy "fcfs" { order = "fcfs" }

policy "sjf" { order = "sjf" }

matrix {
  workload = [workload.mixed]
  hardware = [hardware.machine]
  policy   = [policy.mine, policy.fcfs, policy.sjf]
}

compare "mean_jct" { baseline = policy.fcfs }
