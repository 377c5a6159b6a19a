experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "tfexp/builtin:latest"
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine = "docker"
  node "a" {
    threads = 2
    count   = 2
  }
  node "b" { threads = 2 }
}

policy "fcfs" { order = "fcfs" }
