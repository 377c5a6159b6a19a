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
  engine  = "process"
  threads = 2
  network = "bridge"
  pull    = "missing"
}

policy "fcfs" { order = "fcfs" }
