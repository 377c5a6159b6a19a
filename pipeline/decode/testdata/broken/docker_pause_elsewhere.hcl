experiment "x" {}

job "a" {
  command = ["train"]
  image   = "train"
  epochs  = 1
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine = "docker"
  pause  = "checkpoint"
  node "near" { threads = 1 }
  node "far" {
    threads = 1
    host    = "tcp://node1:2375"
  }
}

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}
