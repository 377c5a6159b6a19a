experiment "containers" {}

job "train" {
  command = ["train"]
  epochs  = 3
  image   = "Not An Image"
}

workload "w" {
  submit { job = job.train }
}

hardware "here" {
  engine  = "docker"
  threads = 2
}

policy "fcfs" { order = "fcfs" }
