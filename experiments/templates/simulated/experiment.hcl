# Policies on a cluster that is not there, with run times that this file gives: seconds for what would take days.
#
#   tfexp run FILE

experiment "simulated" {
  description = "At which load does the order of the queue matter, and by how much?"
  seed        = 1 # the same seed gives the same arrivals
  replicates  = 10
}

job "large" {
  command = ["train"] # a name; nothing is started
  epochs  = 30
  threads = 4
  gpus    = 1
  runtime {
    startup = "20s"
    epoch   = exponential("60s")
  }
}

job "small" {
  command = ["train"]
  epochs  = 10
  threads = 1
  runtime {
    startup = "20s"
    epoch   = exponential("20s")
  }
}

workload "arrivals" {
  submit {
    job          = job.large
    count        = 50
    interarrival = exponential(each.gap)
  }
  submit {
    job          = job.small
    count        = 150
    interarrival = exponential("90s")
  }
}

hardware "cluster" {
  engine = "simulated"
  node "gpu" {
    count   = 2
    threads = 8
    gpus    = 2
  }
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }

policy "rr" {
  order   = "round_robin"
  quantum = "1m"
}

# An axis of your own sweeps any argument: each.gap is read above.
matrix {
  gap = ["3m", "2m30s", "2m"]
}

compare "mean_jct" {
  baseline = policy.fcfs
}

compare "mean_jct" {
  baseline = policy.fcfs
  by       = "class"
}

plot "metrics" {}
plot "gantt" {}

plot "series" {
  metric = "mean_jct"
  x      = "gap"
}
