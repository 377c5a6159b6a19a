experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "tfexp/builtin:latest"
  memory  = "4MiB"
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine  = "docker"
  threads = 2
}

policy "fcfs" { order = "fcfs" }
