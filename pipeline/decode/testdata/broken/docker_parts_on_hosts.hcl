experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "tfexp/builtin:latest"
  role "worker" { count = 2 }
  role "ps" { count = 1 }
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
  node "b" {
    threads = 2
    host    = "tcp://b:2375"
  }
}

policy "fcfs" { order = "fcfs" }
