experiment "e" { seed = 1 }
job "a" {
  command = ["./"]
  epochs = 10
}
workload "w" {
  submit {
    job = job.a
  }
}
hardware "h" {
  engine = "process"
  threads = 2
}
policy "p" { order = "fcfs" }
