# Jobs that are faster on a new GPU than on an old one, but by different factors: does it pay that a
# scheduler knows them? Policies of D. Narayanan and others, "Heterogeneity-Aware Cluster Scheduling
# Policies for Deep Learning Workloads" (OSDI 2020), on two of the authors' traces, with the mean JCT and
# the makespan of their own simulator beside ours. Policies whose names end in _blind take all GPUs to be
# as fast as a V100.
#
#   tfexp run experiments/papers/gavel.hcl         about 5 s
#
# The cluster has two GPUs of each type, and decides at the starts of rounds of six minutes. As in the
# authors' simulator, the time is divided anew at most every 1920 s, and the least makespan is searched for
# to within 5%. docs/papers.md says where we differ, and why.

experiment "gavel" {
  description = "Does it pay to know how fast each job is on each type of GPU?"
  replicates  = 1
}

workload "small_test" {
  trace {
    file        = "gavel/small_test.trace"
    throughputs = "gavel/simulation_throughputs.json.gz"
  }
}

workload "artifact_evaluation" {
  trace {
    file        = "gavel/artifact_evaluation.trace"
    throughputs = "gavel/simulation_throughputs.json.gz"
  }
}

hardware "six_gpus" {
  engine = "simulated"
  node "v100" {
    threads = 2
    gpus    = 2
    gpu     = "v100"
  }
  node "p100" {
    threads = 2
    gpus    = 2
    gpu     = "p100"
  }
  node "k80" {
    threads = 2
    gpus    = 2
    gpu     = "k80"
  }
}

policy "max_min" {
  order     = "max_min"
  rounds    = "360s"
  recompute = "1920s"
}

policy "water_filling" {
  order     = "water_filling"
  rounds    = "360s"
  recompute = "1920s"
}

policy "finish_time_fairness" {
  order     = "finish_time_fairness"
  rounds    = "360s"
  recompute = "1920s"
}

policy "makespan" {
  order     = "makespan"
  rounds    = "360s"
  recompute = "1920s"
  tolerance = 0.05
}

policy "max_throughput" {
  order     = "max_throughput"
  rounds    = "360s"
  recompute = "1920s"
}

policy "fifo" {
  order     = "fifo"
  rounds    = "360s"
  recompute = "1920s"
}

policy "max_min_blind" {
  order     = "max_min"
  rounds    = "360s"
  recompute = "1920s"
  blind     = "v100"
}

policy "isolated_blind" {
  order     = "isolated"
  rounds    = "360s"
  recompute = "1920s"
  blind     = "v100"
}

policy "fifo_blind" {
  order     = "fifo"
  rounds    = "360s"
  recompute = "1920s"
  blind     = "v100"
}

# Each policy beside one that takes all GPUs to be as fast as a V100.
compare "mean_jct" { baseline = policy.max_min_blind }

reference "authors" {
  file = "gavel/expected.csv"
  doc  = "Figures of the authors' own simulator."
}

plot "metrics" {}
plot "cores" {}
