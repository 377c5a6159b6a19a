# Jobs whose run times nobody knows: how far does one get with what they have been given so far? The
# queues of J. Gu and others, "Tiresias: A GPU Cluster Manager for Distributed Deep Learning" (NSDI 2019),
# beside orders that know less (first come, first served), and one that knows all (shortest remaining
# time), on five workloads of Pollux's authors, whose simulator has Tiresias as well.
#
#   tfexp run experiments/papers/tiresias.hcl       about 3 s
#
# `tiresias` is as Pollux's authors set it, with demotion after 16 GPU-hours. `own` has the
# threshold of Tiresias' own simulator, and promotes jobs that have waited eight times as long as they ran.

experiment "tiresias" {
  description = "How far does one get with the GPU time that jobs have had, in place of their run times?"
  replicates  = 1
}

job "bert" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      measurements = "pollux/traces.tar.gz"
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
      measurements = "pollux/traces.tar.gz"
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
      measurements = "pollux/traces.tar.gz"
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
      measurements = "pollux/traces.tar.gz"
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
      measurements = "pollux/traces.tar.gz"
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
      measurements = "pollux/traces.tar.gz"
      resolution   = "1s"
      max_per_gpu  = 8
    }
  }
}

workload "philly" {
  trace {
    file          = "pollux/workload-${each.number}.csv"
    format        = "pollux"
    gpus_per_node = 4
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

matrix {
  number = [1, 2, 3, 4, 5]
}

policy "tiresias" {
  order    = "tiresias"
  rounds   = "60s"
  demotion = "57600s"
}

policy "own" {
  order     = "tiresias"
  rounds    = "60s"
  demotion  = "3250s"
  promotion = 8
}

policy "fcfs" { order = "fcfs" }

policy "first_fit" {
  order    = "fcfs"
  backfill = "first_fit"
}

policy "srtf" {
  order      = "srtf"
  backfill   = "first_fit"
  preemption = "pause"
}

compare "mean_jct_s" { baseline = policy.tiresias }

reference "authors" {
  file = "pollux/expected_tiresias.csv"
  doc  = "Means of the simulator of Pollux's authors, for Tiresias with demotion after 57,600 GPU-s."
}

plot "series" {
  metric = "mean_jct_s"
  x      = "number"
}
