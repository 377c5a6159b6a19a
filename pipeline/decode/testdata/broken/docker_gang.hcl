experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "tfexp/builtin:latest"
  threads = 2
  nodes   = 2
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine = "docker"
  node "a" { threads = 2 }
  node "b" {
    threads = 2
    host    = "tcp://node2:2375"
  }
}

policy "fcfs" { order = "fcfs" }
