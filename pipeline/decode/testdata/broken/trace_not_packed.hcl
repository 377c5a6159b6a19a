experiment "e" { seed = 1 }
job "a" {
  command = ["x"]
  epochs = 10
  runtime { epoch = "1s" }
}
workload "w" {
  trace {
    file = "not_packed.swf.gz"
  }
}
hardware "h" {
  engine = "simulated"
  threads = 2
}
policy "p" { order = "fcfs" }
