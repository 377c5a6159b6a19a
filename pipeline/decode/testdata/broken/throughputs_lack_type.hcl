experiment "broken" {}

workload "w" {
  trace {
    file        = "rounds.trace"
    throughputs = "rounds_lacks.csv"
  }
}

hardware "m" {
  engine = "simulated"
  node "v100" {
    threads = 2
    gpus    = 2
    gpu     = "v100"
  }
}

policy "p" {
  order  = "max_min"
  rounds = "360s"
}
