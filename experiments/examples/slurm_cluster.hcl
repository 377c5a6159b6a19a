# Real jobs on an allocation of a Slurm cluster: tfexp asks for the nodes once, and schedules the jobs on them itself.
experiment "slurm_cluster" {
  description = "Do short jobs wait less under shortest job first, on nodes of our cluster?"
  replicates  = 3
}

job "train" {
  command = ["python3", "train.py"]
  epochs  = 5
  threads = 8
  gpus    = 1
  progress {
    tensorboard = "logs"
    loss        = "train/loss"
    counts      = "steps"
  }
}

workload "w" {
  submit {
    job   = job.train
    count = 6
  }
}

hardware "allocation" {
  engine     = "slurm"
  partition  = "gpu"
  account    = "ml-lab"
  qos        = "short"
  constraint = "avx512"
  gres       = "gpu:a100:2"
  time       = "2h"
  notice     = "5m"
  watch      = "1m"
  sbatch     = { reservation = "course" }
  node "n" {
    count   = 2
    threads = 16
    gpus    = 2
  }
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }

estimate {
  model   = "auto"
  level   = 0.95
  correct = "policies"
  within  = "5%"
}

compare "mean_waiting" { baseline = policy.fcfs }
