experiment "steps" {}

job "train" {
  command = ["train"]
  epochs  = 3
  threads = 2
  nodes   = 2
}

workload "w" {
  submit { job = job.train }
}

hardware "cluster" {
  engine  = "slurm"
  nodes   = 2
  threads = 1
}

policy "fcfs" { order = "fcfs" }
