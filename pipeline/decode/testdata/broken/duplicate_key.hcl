experiment "e" { seed = 1 }
job "a" {
  builtin "softmax" {}
  epochs = 10
  threads = { inter = 1, inter = 2 }
  runtime { epoch = "1s" }
}
workload "w" {
  submit {
    job = job.a
  }
}
hardware "h" {
  engine = "simulated"
  threads = 2
}
policy "p" { order = "fcfs" }
