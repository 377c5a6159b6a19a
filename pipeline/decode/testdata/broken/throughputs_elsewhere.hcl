experiment "broken" {}

workload "w" {
  trace {
    file        = "rounds_elsewhere.trace"
    throughputs = "rounds_elsewhere.csv"
  }
}

hardware "m" {
  engine = "simulated"
  node "k80" {
    threads = 4
    gpus    = 4
    gpu     = "k80"
  }
  node "v100" {
    threads = 1
    gpus    = 1
    gpu     = "v100"
  }
}

policy "p" {
  order  = "max_min"
  rounds = "360s"
}
