# How does the waiting time grow with the load? Sixty simulated cells, which need no allocation: they run here, or as tasks of
# an array, twenty to a task.
#
#   tfexp run sweep.hcl
#   tfexp run sweep.hcl --on slurm --detach; tfexp status; tfexp resume

experiment "sweep" {
  seed       = 1
  replicates = 10
}

job "train" {
  command = ["train"] # a name; nothing is started
  epochs  = 10
  threads = 2
  runtime {
    startup = "2s"
    epoch   = exponential("6s")
  }
}

workload "arrivals" {
  submit {
    job          = job.train
    count        = 500
    interarrival = exponential(each.gap)
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }

matrix {
  gap = ["12s", "10s", "9s"]
}

compare "mean_waiting" {
  baseline = policy.fcfs
}

plot "series" {
  metric = "mean_waiting"
  x      = "gap"
}
