experiment "fcfs_vs_rr" { replicates = 3 }
job "long" {
  command = ["train"]
  epochs  = 50
  threads = 2
  runtime { epoch = "200ms" }
}
job "short" {
  command = ["train"]
  epochs  = 8
  runtime { epoch = "100ms" }
}
workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("200ms")
  }
}
hardware "sim" {
  engine  = "simulated"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "300ms"
}
compare "mean_waiting" { baseline = policy.fcfs }
