# How often should a job that may lose its server save its work? Ten hours of work on a
# spot server that is taken away once an hour on average, and replaced at once. A
# checkpoint costs ten seconds, a restart a minute. Too many checkpoints cost time
# themselves, too few lose work. By Daly (2006) the best interval is 261.703 s, which
# `every = "daly"` works out, and by Young (1974) 268.328 s; Daly's formula expects
# 39,474.65 s for the whole job then. The picture "intervals" marks both beside what was simulated.
#
#   tfexp run experiments/papers/checkpoint_interval.hcl
#
# takes a few seconds.

experiment "checkpoint_interval" {
  description = "How often should a job save its work if it may lose its server?"
  seed        = 11
  replicates  = 100
}

job "training" {
  builtin "softmax" {}
  epochs = 100
  runtime { epoch = "6m" }
  checkpoint {
    every   = "${each.interval_s}s"
    cost    = "10s"
    restore = "1m"
  }
}

workload "one" {
  submit { job = job.training }
}

hardware "spot" {
  engine = "simulated"
  node "vm" {
    threads  = 1
    price    = 0.26
    lifetime = exponential("1h")
  }
}

policy "fcfs" { order = "fcfs" }

matrix {
  interval_s = [30, 60, 120, 180, 261.703, 480, 900, 1800]
}

# Is it worth while to save as often as the formula says?
compare "mean_jct" {
  baseline = { interval_s = 261.703 }
  metrics  = ["cost_usd"]
}

plot "intervals" {}

plot "series" {
  metric = "mean_jct"
  x      = "interval_s"
}
plot "series" {
  metric = "lost_work"
  x      = "interval_s"
}

plot "lifetimes" {}
