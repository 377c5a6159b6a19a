# How much do policies that decide by estimates lose when the estimates are wrong?
# sigma is the standard deviation of the error's logarithm: at 0.2 two thirds of
# the estimates are right within a fifth, at 1 within a factor of 2.7.
#
#   tfexp run experiments/estimate_error.hcl

experiment "estimate_error" {
  description = "How much do policies lose when their estimates are wrong?"
  seed        = 3
  replicates  = 20
}

job "short" {
  command = ["train", "--model", "short"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("5s") }
  alternative "cpu" {
    threads = 2
    runtime { epoch = exponential("30s") }
  }
}

job "medium" {
  command = ["train", "--model", "medium"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("20s") }
  alternative "cpu" {
    threads = 4
    runtime { epoch = exponential("320s") }
  }
}

job "long" {
  command = ["train", "--model", "long"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = exponential("80s") }
  alternative "cpu" {
    threads = 8
    runtime { epoch = exponential("3200s") }
  }
}

workload "mixed" {
  submit {
    job          = job.short
    count        = 160
    interarrival = exponential("40s")
  }
  submit {
    job          = job.medium
    count        = 80
    interarrival = exponential("80s")
  }
  submit {
    job          = job.long
    count        = 20
    interarrival = exponential("320s")
  }
}

hardware "cluster" {
  engine = "simulated"
  node "cores" {
    count   = 2
    threads = 16
  }
  node "gpus" {
    threads = 4
    gpus    = 4
    gpu     = "V100"
  }
}

# Without estimates, for comparison.
policy "fcfs" { order = "fcfs" }

policy "easy" {
  order     = "fcfs"
  backfill  = "easy"
  estimates = noisy(each.sigma)
}

policy "sjf" {
  order     = "sjf"
  placement = "earliest_finish"
  estimates = noisy(each.sigma)
}

policy "srtf" {
  order     = "srtf"
  placement = "earliest_finish"
  estimates = noisy(each.sigma)
}

policy "allox" {
  order     = "allox"
  estimates = noisy(each.sigma)
}

matrix {
  sigma = [0, 0.05, 0.1, 0.2, 0.5, 1]
}

# Which policy is better than none that predicts?
compare "mean_jct" { baseline = policy.fcfs }

# How good must the estimates be: what does each policy lose by errors?
compare "mean_jct" { baseline = { sigma = 0 } }

plot "series" {
  metric = "mean_jct"
  x      = "sigma"
}

plot "series" {
  metric = "p95_jct"
  x      = "sigma"
}
