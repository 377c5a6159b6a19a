# Jobs in containers of one Docker daemon, or of several. tfexp binds each to its own cores, and gives it no network.
experiment "containers" {
  description = "What does the division of cores cost: bound cores or shares of time?"
  replicates  = 3
}

job "train" {
  command = ["python3", "train.py", "--epochs", "3"]
  image   = "tfexp/tensorflow:latest"
  workdir = "/work"
  mounts  = [".:/work:ro"]
  epochs  = 3
  threads = 2
  memory  = "2GiB"
  progress { lines = "Epoch (?P<epoch>[0-9]+)/[0-9]+.*loss: (?P<loss>[0-9.]+)" }
}

workload "w" {
  submit {
    job   = job.train
    count = 4
  }
}

hardware "bound" {
  engine     = "docker"
  threads    = 4
  host       = "unix:///var/run/docker.sock"
  cpus       = "cpuset"
  network    = "none"
  pull       = "never"
  privileges = "none"
  pids       = 512
  platform   = "linux/amd64"
}

hardware "shares" {
  engine  = "docker"
  threads = 4
  cpus    = "quota"
}

hardware "two_daemons" {
  engine = "docker"
  node "a" { threads = 4 }
  node "b" {
    threads = 8
    host    = "tcp://node2.example:2376"
  }
}

policy "fcfs" { order = "fcfs" }

compare "mean_service" { baseline = { hardware = "bound" } }
