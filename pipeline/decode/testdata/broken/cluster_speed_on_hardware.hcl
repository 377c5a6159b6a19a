experiment "cluster_speed_on_hardware" {}

job "gpus" {
  command = ["train"]
  steps   = 100
  role "worker" {
    count = 1
    gpus  = 1
  }
  runtime {
    cluster {
      rates   = { K80 = 4 }
    }
  }
}

job "cores" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster { rates = { K80 = 4 } }
  }
}

job "far" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster {
      rates   = { K80 = 4 }
      device  = "K80"
      regions = { "east mars" = 0.5 }
    }
  }
}

workload "w" {
  submit { job = job.gpus }
  submit { job = job.cores }
  submit { job = job.far }
}

hardware "h" {
  engine = "simulated"
  node "east" {
    threads = 4
    region  = "east"
  }
  node "gpu" {
    threads = 4
    gpus    = 1
    gpu     = "V100"
    region  = "east"
  }
}

policy "fcfs" { order = "fcfs" }
