# Jobs that run on cores or on a GPU, and users who share both: who is to have which? The question of
# T. N. Le and others, "AlloX: Compute Allocation in Hybrid Clusters" (EuroSys 2020), with the policies with
# which they compared theirs, at four loads of the cluster.
#
#   tfexp run experiments/papers/allox_paper.hcl         about 8 s
#
# Each of six users trains networks of a kind of their own. A GPU is as fast as eight cores for those of the
# first, and fifty times as fast for those of the last. The load is the rate of arrivals, in parts of the
# greatest with which a division of cores and GPUs could keep up: above 1 the queues grow to the end.
#
# The paper says that the mean JCT is lower by up to 95% when the load is high. The authors' workloads are not
# published; here it is 88% lower than under DRF at twice the load that the cluster can bear.
#
# AlloX learns run times from samples of the jobs. Where each job runs its own on the cluster, the mean JCT is 15 to
# 40% higher; where the jobs of a user are alike and the first one tells of all, nothing is lost.

experiment "allox_paper" {
  description = "How much shorter are jobs on average where cores and GPUs are divided for all of them together?"
  seed        = 20
  replicates  = 5
  records     = "metrics"
}

locals {
  # How much faster a GPU is than eight cores, by user.
  speedups = [1, 2, 5, 10, 25, 50]

  # Jobs an hour: the most at which queues need not grow. Then the cores have the jobs of the first two users and
  # ten an hour of the third's, and the eight GPUs the other 48.
  capacity = 87.6
}

job "tables" {
  command = ["train", "--model", "tables"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("60s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential(format("%.3fs", 60 * local.speedups[0])) }
  }
}

job "text" {
  command = ["train", "--model", "text"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("60s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential(format("%.3fs", 60 * local.speedups[1])) }
  }
}

job "speech" {
  command = ["train", "--model", "speech"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("60s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential(format("%.3fs", 60 * local.speedups[2])) }
  }
}

job "detection" {
  command = ["train", "--model", "detection"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("60s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential(format("%.3fs", 60 * local.speedups[3])) }
  }
}

job "vision" {
  command = ["train", "--model", "vision"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("60s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential(format("%.3fs", 60 * local.speedups[4])) }
  }
}

job "language" {
  command = ["train", "--model", "language"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("60s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential(format("%.3fs", 60 * local.speedups[5])) }
  }
}

workload "mixed" {
  submit {
    job          = job.tables
    count        = 150
    interarrival = exponential(format("%.3fs", 6 * 3600 / (each.load * local.capacity)))
    user         = "ada"
  }
  submit {
    job          = job.text
    count        = 150
    interarrival = exponential(format("%.3fs", 6 * 3600 / (each.load * local.capacity)))
    user         = "grace"
  }
  submit {
    job          = job.speech
    count        = 150
    interarrival = exponential(format("%.3fs", 6 * 3600 / (each.load * local.capacity)))
    user         = "kurt"
  }
  submit {
    job          = job.detection
    count        = 150
    interarrival = exponential(format("%.3fs", 6 * 3600 / (each.load * local.capacity)))
    user         = "alan"
  }
  submit {
    job          = job.vision
    count        = 150
    interarrival = exponential(format("%.3fs", 6 * 3600 / (each.load * local.capacity)))
    user         = "emmy"
  }
  submit {
    job          = job.language
    count        = 150
    interarrival = exponential(format("%.3fs", 6 * 3600 / (each.load * local.capacity)))
    user         = "john"
  }
}

hardware "cluster" {
  engine = "simulated"
  node "cores" {
    count   = 8
    threads = 16
  }
  node "gpus" {
    count   = 2
    threads = 4
    gpus    = 4
  }
}

policy "fifo" {
  order    = "fcfs"
  backfill = "first_fit"
}

# DRFF, DRFS, DRFE and ES of the paper.
policy "drf" { order = "drf" }

policy "drf_sjf" { order = "drf_sjf" }

policy "drf_exchange" {
  order     = "drf_exchange"
  gpu_cores = 124 # eight times the mean speed-up
}

policy "equal_share" { order = "each_resource" }

policy "srpt" {
  order     = "srtf"
  placement = "pairs"
}

policy "allox" { order = "allox" }

policy "allox_fair" {
  order      = "allox"
  alpha      = 0.3
  starvation = "12h"
}

# The policy is to learn the run times first: each job, or the first of each user, runs samples of 3% on a GPU and on
# cores, which others wait for.
policy "allox_profiled" {
  order     = "allox"
  profiling = 0.03
}

policy "allox_profiled_once" {
  order       = "allox"
  profiling   = 0.03
  profiled_by = "class"
}

matrix {
  load = [0.6, 1, 1.5, 2]
}

compare "mean_jct" { baseline = policy.allox }

compare "jain_fairness" { baseline = policy.allox }

reference "paper" {
  file        = "allox/expected.csv"
  relative_to = policy.drf
  doc         = "The abstract: lower by up to 95% when the load is high."
}

plot "series" {
  metric = "mean_jct"
  x      = "load"
}

plot "metrics" {}
