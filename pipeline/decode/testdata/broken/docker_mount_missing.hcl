experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "tfexp/builtin:latest"
  mounts  = ["no/such/folder:/data"]
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine  = "docker"
  threads = 2
}

policy "fcfs" { order = "fcfs" }
