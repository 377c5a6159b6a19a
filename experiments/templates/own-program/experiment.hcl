# A training program of your own under three policies.
#
#   tfexp plan FILE    shows what would run, and how long it takes
#   tfexp run FILE     runs it, and says which policy was better
#
# train.py stands for your program. tfexp starts it with the number of epochs in TFEXP_EPOCHS, and first with fewer of
# them, to learn how long it takes.

experiment "own-program" {
  description = "Which order makes my training jobs finish sooner: by arrival, by remaining time, or by service so far?"
  seed        = 1 # the same seed gives the same arrivals
  replicates  = 3 # each cell runs this often; comparisons need at least 3
}

job "long" {
  command = ["python3", "train.py"]
  files   = ["train.py"] # when it changes, its cells run again
  epochs  = 40
}

job "short" {
  command = ["python3", "train.py"]
  files   = ["train.py"]
  epochs  = 8
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 4
    interarrival = exponential("200ms")
  }
}

# One core of this machine, so that the jobs have something to wait for.
hardware "this_machine" {
  engine  = "process"
  threads = 1
}

policy "fcfs" { order = "fcfs" }

# By the remaining time, which is predicted from short samples of the jobs.
policy "srtf" { order = "srtf" }

# By the service that a job has had: nothing is predicted.
policy "las" {
  order   = "las"
  quantum = "300ms"
}

compare "mean_jct" {
  baseline = policy.fcfs
  metrics  = ["mean_waiting"]
}

# What do the long jobs pay?
compare "mean_jct" {
  baseline = policy.fcfs
  by       = "class"
}
