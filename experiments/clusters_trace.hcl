# The policies of the field on a trace: 160 training jobs of a day of Microsoft's Philly, as the authors of
# Pollux sampled them (A. Qiao and others, OSDI 2021), on 64 GPUs at three loads. Who has the least mean JCT,
# and is it the same at each load?
#
#   tfexp run experiments/clusters_trace.hcl         about a minute
#
# A load of 1 is the trace as it is; with 2 jobs arrive twice as fast. Policies that know the run times are
# told the true ones. Only Optimus, Pollux and Sia choose how many GPUs a job has, and the last two its batch
# size as well: the others give each job what its user asked for. Twenty small jobs arrive beside the trace, in
# each replicate at other instants: the intervals say how much that matters.

experiment "clusters_trace" {
  description = "Which policy has the least mean JCT on jobs of Philly, at three loads?"
  seed        = 11
  replicates  = 6
  records     = "metrics"
}

job "bert" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      measurements = "papers/pollux/traces.tar.gz"
      resolution   = "1s"
    }
  }
}

job "cifar10" {
  command = ["train"]
  epochs  = 100
  gpus    = 1
  runtime {
    elastic {
      measurements = "papers/pollux/traces.tar.gz"
      resolution   = "1s"
    }
  }
}

job "deepspeech2" {
  command = ["train"]
  epochs  = 80
  gpus    = 1
  runtime {
    elastic {
      measurements = "papers/pollux/traces.tar.gz"
      resolution   = "1s"
    }
  }
}

job "imagenet" {
  command = ["train"]
  epochs  = 90
  gpus    = 1
  runtime {
    elastic {
      measurements = "papers/pollux/traces.tar.gz"
      resolution   = "1s"
    }
  }
}

job "ncf" {
  command = ["train"]
  epochs  = 10
  gpus    = 1
  runtime {
    elastic {
      measurements = "papers/pollux/traces.tar.gz"
      resolution   = "1s"
      batch        = 32768
      max_gpus     = 1
    }
  }
}

job "yolov3" {
  command = ["train"]
  epochs  = 50
  gpus    = 1
  runtime {
    elastic {
      measurements = "papers/pollux/traces.tar.gz"
      resolution   = "1s"
      max_per_gpu  = 8
    }
  }
}

workload "philly" {
  trace {
    file          = "papers/pollux/workload-1.csv"
    format        = "pollux"
    gpus_per_node = 4
    time_scale    = 1 / each.load
  }
  submit {
    job          = job.cifar10
    count        = 20
    interarrival = exponential(format("%.3fs", 1440 / each.load))
  }
}

# A restart takes a job 30 s.
hardware "gpus" {
  engine = "simulated"
  node "n" {
    count   = 16
    threads = 4
    gpus    = 4
  }
  overheads {
    start   = "30s"
    resume  = "30s"
    migrate = "30s"
  }
}

policy "fcfs" {
  order = "fcfs"
}

policy "first_fit" {
  order    = "fcfs"
  backfill = "first_fit"
}

policy "easy" {
  order    = "fcfs"
  backfill = "easy"
}

policy "conservative" {
  order    = "fcfs"
  backfill = "conservative"
}

policy "sjf" {
  order    = "sjf"
  backfill = "first_fit"
}

policy "srtf" {
  order    = "srtf"
  backfill = "first_fit"
}

policy "srsf" {
  order    = "srsf"
  backfill = "first_fit"
}

policy "las" {
  order    = "las"
  backfill = "first_fit"
  quantum  = "600s"
}

policy "gittins" {
  order    = "gittins"
  backfill = "first_fit"
  quantum  = "600s"
}

policy "mlfq" {
  order    = "mlfq"
  backfill = "first_fit"
  quanta   = ["600s", "3600s"]
}

policy "tiresias" {
  order    = "tiresias"
  rounds   = "60s"
  demotion = "57600s"
}

policy "max_min" {
  order  = "max_min"
  rounds = "360s"
}

policy "finish_time_fairness" {
  order  = "finish_time_fairness"
  rounds = "360s"
}

policy "makespan" {
  order  = "makespan"
  rounds = "360s"
}

policy "optimus" {
  order  = "optimus"
  rounds = "60s"
}

policy "pollux" {
  order  = "pollux"
  rounds = "60s"
}

policy "sia" {
  order  = "sia"
  rounds = "60s"
}

matrix {
  load = [0.7, 1, 1.5]
}

compare "mean_jct" { baseline = policy.tiresias }

plot "series" {
  metric = "mean_jct"
  x      = "load"
}

plot "metrics" {}
