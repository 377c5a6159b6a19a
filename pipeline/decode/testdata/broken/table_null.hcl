experiment "e" { seed = 1 }
job "a" {
  builtin "softmax" {}
  epochs = 10
  runtime { table = { 1 = null } }
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
