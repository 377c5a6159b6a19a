# Real jobs as Jobs of a Kubernetes cluster: tfexp decides when each of them runs, and on which node.
experiment "kubernetes" {
  description = "Do short jobs wait less under round robin, on nodes of our cluster?"
  replicates  = 3
}

job "train" {
  command = ["python3", "train.py", "--data", "/data/imagenet"]
  epochs  = 5
  threads = 8
  gpus    = 1
  memory  = "16GiB"
  progress { lines = "Epoch (?P<epoch>[0-9]+)/[0-9]+.*loss: (?P<loss>[0-9.]+)" }
}

workload "w" {
  submit {
    job   = job.train
    count = 6
  }
}

hardware "team" {
  engine          = "kubernetes"
  kubeconfig      = "/etc/team/kubeconfig"
  context         = "prod"
  namespace       = "research"
  image           = "registry.example/train:1"
  image_pull      = "always"
  pull_secrets    = ["registry"]
  user            = "1000:1000"
  node_selector   = { pool = "gpu" }
  tolerations     = ["dedicated=training:NoSchedule"]
  service_account = "trainer"
  volumes         = { "/data" = "claim:datasets:ro" }
  checkpoints     = "claim:checkpoints"
  grace           = "30s"
  deadline        = "72h"
  patience        = "15m"
  gpu_resource    = "nvidia.com/gpu"
  node "gpu" {
    count   = 2
    threads = 16
    gpus    = 2
  }
}

policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "2m"
}

compare "mean_waiting" { baseline = policy.fcfs }
