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
  engine  = "docker"
  threads = 2
  host    = "node1:2375"
}

policy "fcfs" { order = "fcfs" }
