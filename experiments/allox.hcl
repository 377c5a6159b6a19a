# Jobs that can run on cores or on a GPU, five loads of the machine, and the
# question who gets the GPUs: AlloX (T. N. Le and others, EuroSys 2020).
#
#   tfexp run experiments/allox.hcl

experiment "allox" {
  description = "Which jobs belong on the GPUs, and does a matching of jobs to resources shorten the mean JCT?"
  seed        = 5
  replicates  = 10
}

# The classes differ in how much a GPU helps: an epoch takes from one and a half
# to twenty-five times as long on four cores. All would rather have a GPU.

job "embedding" {
  command = ["train", "--model", "embedding"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = exponential("40s")
    gpu_rate = { K80 = 1, V100 = 2 }
  }
  alternative "cpu" {
    threads = 4
    runtime { epoch = exponential("240s") }
  }
}

job "recurrent" {
  command = ["train", "--model", "recurrent"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = exponential("40s")
    gpu_rate = { K80 = 1, V100 = 3 }
  }
  alternative "cpu" {
    threads = 4
    runtime { epoch = exponential("800s") }
  }
}

job "convolutional" {
  command = ["train", "--model", "convolutional"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = exponential("40s")
    gpu_rate = { K80 = 1, V100 = 5 }
  }
  alternative "cpu" {
    threads = 4
    runtime { epoch = exponential("2400s") }
  }
}

workload "mixed" {
  submit {
    job          = job.embedding
    count        = 80
    interarrival = exponential(format("%gs", 3 * 3600 / each.jobs_per_hour))
    user         = "ada"
  }
  submit {
    job          = job.recurrent
    count        = 80
    interarrival = exponential(format("%gs", 3 * 3600 / each.jobs_per_hour))
    user         = "grace"
  }
  submit {
    job          = job.convolutional
    count        = 80
    interarrival = exponential(format("%gs", 3 * 3600 / each.jobs_per_hour))
    user         = "kurt"
  }
}

hardware "cluster" {
  engine = "simulated"
  node "cores" {
    count   = 2
    threads = 16
  }
  node "old" {
    threads = 4
    gpus    = 4
    gpu     = "K80"
  }
  node "new" {
    threads = 2
    gpus    = 2
    gpu     = "V100"
  }
}

policy "fcfs" { order = "fcfs" }

policy "fair" {
  order   = "fair"
  quantum = "60s"
}

# Ranks jobs by their time on a GPU, and takes a GPU or cores, whichever is free.
policy "srtf" {
  order     = "srtf"
  placement = "first"
}

policy "srtf_earliest_finish" {
  order     = "srtf"
  placement = "earliest_finish"
}

policy "sjf_earliest_finish" {
  order     = "sjf"
  placement = "earliest_finish"
}

policy "allox_fair" {
  order = "allox"
  alpha = 0.3
}

policy "allox" { order = "allox" }

matrix {
  jobs_per_hour = [24, 36, 48, 60, 72]
}

compare "mean_jct" { baseline = policy.allox }

plot "series" {
  metric = "mean_jct"
  x      = "jobs_per_hour"
}

plot "series" {
  metric = "p95_jct"
  x      = "jobs_per_hour"
}

plot "jct" {}
