experiment "e" { seed = log(-1, 2) }
job "a" {
  builtin "softmax" {}
  epochs = 10
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
