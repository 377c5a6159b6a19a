# Jobs that train on any number of GPUs, with any batch size: does it pay to divide a cluster by how
# much progress each job would make? The policy of A. Qiao and others, "Pollux: Co-adaptive Cluster
# Scheduling for Goodput-Optimized Deep Learning" (OSDI 2021), beside Optimus and Tiresias, on five
# workloads of the authors, with the mean JCT of their own simulator beside ours.
#
#   tfexp run experiments/papers/pollux.hcl         about half a minute
#
# The jobs of a trace have the name of their program. Under Tiresias each gets the GPUs that its user asked
# for, and under Optimus others, but it keeps its batch size. Pollux and Sia choose both; what they know of the
# speed of a job are the steps that the job has made so far.

experiment "pollux" {
  description = "Does it pay to divide GPUs by the progress that jobs make with them?"
  replicates  = 1
}

job "bert" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      measurements = "pollux/traces.tar.gz"
      program      = "bert" # the job's name, where the block has no program
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

compare "mean_jct_s" { baseline = policy.tiresias }

reference "authors" {
  file = "pollux/expected.csv"
  doc  = "Means of the authors' own simulator."
}

plot "series" {
  metric = "mean_jct_s"
  x      = "number"
}
