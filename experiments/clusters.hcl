# The policies of the field on one small cluster of two types of GPUs, at three loads: who has the
# least mean JCT, and is it the same at each load?
#
#   tfexp run experiments/clusters.hcl         about 25 s
#
# Jobs ask for one, two, four or six GPUs, and are faster on the new type by factors of their own. A
# node has four: six are divided over nodes by the policies that say nodes = "consolidated". Each
# replicate draws arrivals and run times anew: a hundred of them tell policies apart that differ by about 3%.

experiment "clusters" {
  description = "Which policy has the least mean JCT on a cluster of unlike GPUs, at three loads?"
  seed        = 7
  replicates  = 100
  records     = "metrics"
}

job "single" {
  command = ["train", "--model", "embedding"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch    = exponential("360s")
    gpu_rate = { K80 = 1, V100 = 2 }
  }
}

job "double" {
  command = ["train", "--model", "recurrent"]
  epochs  = 10
  threads = 2
  gpus    = 2
  runtime {
    epoch    = exponential("720s")
    gpu_rate = { K80 = 1, V100 = 3 }
  }
}

job "node" {
  command = ["train", "--model", "convolutional"]
  epochs  = 10
  threads = 4
  gpus    = 4
  runtime {
    epoch    = exponential("1080s")
    gpu_rate = { K80 = 1, V100 = 6 }
  }
}

job "wide" {
  command = ["train", "--model", "transformer"]
  epochs  = 10
  threads = 6
  gpus    = 6
  runtime {
    epoch    = exponential("720s")
    gpu_rate = { K80 = 1, V100 = 4 }
  }
}

workload "mixed" {
  submit {
    job          = job.single
    count        = 60
    interarrival = exponential(format("%gs", 2 * 3600 / each.jobs_per_hour))
    user         = "ada"
  }
  submit {
    job          = job.double
    count        = 30
    interarrival = exponential(format("%gs", 4 * 3600 / each.jobs_per_hour))
    user         = "grace"
  }
  submit {
    job          = job.node
    count        = 15
    interarrival = exponential(format("%gs", 8 * 3600 / each.jobs_per_hour))
    user         = "kurt"
  }
  submit {
    job          = job.wide
    count        = 15
    interarrival = exponential(format("%gs", 8 * 3600 / each.jobs_per_hour))
    user         = "alan"
  }
}

hardware "cluster" {
  engine = "simulated"
  node "old" {
    count   = 4
    threads = 8
    gpus    = 4
    gpu     = "K80"
    rack    = "old"
  }
  node "new" {
    count   = 2
    threads = 8
    gpus    = 4
    gpu     = "V100"
    rack    = "new"
  }
}

policy "fcfs" {
  order = "fcfs"
  nodes = "consolidated"
}

policy "fcfs_easy" {
  order    = "fcfs"
  backfill = "easy"
  nodes    = "consolidated"
}

policy "sjf" {
  order    = "sjf"
  backfill = "first_fit"
  nodes    = "consolidated"
}

policy "sjf_pairs" {
  order     = "sjf"
  placement = "pairs"
  nodes     = "consolidated"
}

policy "srtf" {
  order    = "srtf"
  backfill = "first_fit"
  nodes    = "consolidated"
}

policy "srsf" {
  order    = "srsf"
  backfill = "first_fit"
  nodes    = "consolidated"
}

policy "gittins" {
  order    = "gittins"
  backfill = "first_fit"
  quantum  = "600s"
  nodes    = "consolidated"
}

policy "las" {
  order    = "las"
  backfill = "first_fit"
  quantum  = "600s"
  nodes    = "consolidated"
}

policy "drf" {
  order = "drf"
  nodes = "consolidated"
}

policy "equal_share" {
  order = "equal_share"
  nodes = "consolidated"
}

policy "max_min" {
  order  = "max_min"
  rounds = "360s"
  nodes  = "consolidated"
}

policy "finish_time_fairness" {
  order  = "finish_time_fairness"
  rounds = "360s"
  nodes  = "consolidated"
}

matrix {
  jobs_per_hour = [15, 20, 25]
}

compare "mean_jct" { baseline = policy.fcfs }

plot "series" {
  metric = "mean_jct"
  x      = "jobs_per_hour"
}

plot "metrics" {}
