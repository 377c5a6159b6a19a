experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "tfexp/builtin:latest"
  retries = -1
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine     = "docker"
  threads    = 2
  cpus       = "cpusets"
  platform   = "amd64"
  noise      = 0.1
  privileges = "root"
}

policy "fcfs" { order = "fcfs" }
