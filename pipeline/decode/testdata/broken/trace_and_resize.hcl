experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
  threads = 4
}

workload "w" {
  trace {
    file = "../cluster.swf"
  }
  submit {
    job   = job.deep
    count = 2
  }
  resize {
    at      = "1s"
    job     = "deep-3"
    threads = 2
  }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
