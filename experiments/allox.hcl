# Jobs that can run on cores or on a GPU, five loads of the machine, and the
# question who gets the GPUs: AlloX (T. N. Le and others, EuroSys 2020).
#
#   tfexp run experiments/allox.hcl

experiment "allox" {
  description = "Which jobs belong on the GPUs, and does a matching of jobs to resources shorten the mean JCT?"
  seed        = 5
  replicates  = 10
}

# The classes differ in how much a GPU helps: from three times slower on four
# cores to twenty-five times. Run times are those on the whole request.

job "embedding" {
  command = ["train", "--model", "embedding"]
  epochs  = 10
  threads = 4
  runtime {
    epoch = exponential("240s")
  }
  alternative "gpu" {
    gpus = 1
    runtime {
      epoch    = exponential("40s")
      gpu_rate = { K80 = 1, V100 = 2 }
    }
  }
}

job "recurrent" {
  command = ["train", "--model", "recurrent"]
  epochs  = 10
  threads = 4
  runtime {
    epoch = exponential("800s")
  }
  alternative "gpu" {
    gpus = 1
    runtime {
      epoch    = exponential("50s")
      gpu_rate = { K80 = 1, V100 = 3 }
    }
  }
}

job "convolutional" {
  command = ["train", "--model", "convolutional"]
  epochs  = 10
  threads = 4
  runtime {
    epoch = exponential("2400s")
  }
  alternative "gpu" {
    gpus = 1
    runtime {
      epoch    = exponential("60s")
      gpu_rate = { K80 = 1, V100 = 5 }
    }
  }
}

workload "mixed" {
  submit {
    job          = job.embedding
    count        = 80
    interarrival = exponential(each.gap)
    user         = "ada"
  }
  submit {
    job          = job.recurrent
    count        = 80
    interarrival = exponential(each.gap)
    user         = "grace"
  }
  submit {
    job          = job.convolutional
    count        = 80
    interarrival = exponential(each.gap)
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

policy "srtf" { order = "srtf" }

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
  gap = ["400s", "300s", "240s", "200s", "170s"]
}

compare "mean_jct" { baseline = policy.fcfs }

plot "series" {
  metric = "mean_jct"
  x      = "gap"
}

plot "series" {
  metric = "p95_jct"
  x      = "gap"
}

plot "jct" {}
