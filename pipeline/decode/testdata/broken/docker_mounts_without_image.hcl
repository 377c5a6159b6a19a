experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  mounts  = ["data:/data"]
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine  = "process"
  threads = 2
}

policy "fcfs" { order = "fcfs" }
