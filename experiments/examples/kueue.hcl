# Would another policy serve two teams better than our Kueue? The queues team-a and team-b lend each other their cores.
experiment "kueue" {
  description = "How long do two teams wait under our Kueue, under the scheduler of the cluster alone, and under policies of tfexp?"
  replicates  = 3
}

job "train" {
  command = ["python3", "train.py"]
  epochs  = 20
  threads = 1
}

workload "teams" {
  submit {
    job   = job.train
    count = 4
    user  = "ann"
  }
  submit {
    job   = job.train
    count = 2
    user  = "ben"
    start = "1m"
  }
  submit {
    job   = job.train
    user  = "guest"
    start = "2m"
  }
}

hardware "team" {
  engine      = "kubernetes"
  namespace   = "research"
  image       = "registry.example/train:1"
  checkpoints = "claim:checkpoints"
  node "node" { threads = 2 }
}

policy "kueue" {
  order  = "cluster"
  queue  = "team-a"
  queues = { ben = "team-b" }
}

policy "kube_scheduler" { order = "cluster" }

policy "fcfs" { order = "fcfs" }

policy "max_min" {
  order  = "max_min"
  rounds = "1m"
}

compare "mean_waiting" { baseline = policy.kueue }
