experiment "e" { seed = 1 }
job "a" {
  command = ["x"]
  epochs = 10
  runtime { epoch = "1s" }
}
workload "w" {
  submit {
    job          = job.a
    count        = 1000000
    interarrival = exponential("1000h")
  }
}
hardware "h" {
  engine = "simulated"
  threads = 2
}
policy "p" { order = "fcfs" }
