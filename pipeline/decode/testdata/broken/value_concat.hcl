experiment "e" { seed = 1 }
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
locals {
  a0 = range(1000)
  a1 = concat(local.a0, local.a0)
  a2 = concat(local.a1, local.a1)
  a3 = concat(local.a2, local.a2)
  a4 = concat(local.a3, local.a3)
  a5 = concat(local.a4, local.a4)
  a6 = concat(local.a5, local.a5)
  a7 = concat(local.a6, local.a6)
  a8 = concat(local.a7, local.a7)
  a9 = concat(local.a8, local.a8)
  a10 = concat(local.a9, local.a9)
  a11 = concat(local.a10, local.a10)
  a12 = concat(local.a11, local.a11)
}
