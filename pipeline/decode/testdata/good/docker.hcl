experiment "containers" {}

job "train" {
  command   = ["python3", "train.py"]
  image     = "registry.example:5000/tf/train:2"
  workdir   = "/work"
  mounts    = [".:/work:ro", "/tmp:/scratch"]
  epochs    = 3
  threads   = 2
  malleable = true
  memory    = "2GiB"
  retries   = 2
}

job "own" {
  builtin "softmax" {}
  image  = "tfexp/builtin"
  epochs = 3
}

workload "w" {
  submit { job = job.train }
  submit { job = job.own }
}

hardware "here" {
  engine     = "docker"
  threads    = 2
  cpus       = "quota"
  network    = "bridge"
  pull       = "missing"
  privileges = "default"
  user       = "1000:1000"
  platform   = "linux/amd64"
}

hardware "two" {
  engine = "docker"
  node "a" {
    threads = 2
    memory  = "8GiB"
  }
  node "b" {
    threads = 4
    host    = "tcp://node2:2375"
  }
}

policy "fcfs" { order = "fcfs" }
