experiment "broken" {}

workload "w" {
  trace {
    file        = "rounds.trace"
    throughputs = "packing_pairs.csv"
  }
}

hardware "m" {
  engine = "simulated"
  node "v100" {
    threads = 8
    gpus    = 4
    gpu     = "v100"
  }
}

policy "p" {
  order   = "max_min"
  rounds  = "360s"
  packing = true
  blind   = "v100"
}
