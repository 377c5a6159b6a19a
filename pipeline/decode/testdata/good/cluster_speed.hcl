experiment "cluster_speed" {
  replicates = 3
}

job "measured" {
  command = ["train"]
  steps   = 64000
  role "worker" {
    count   = 4
    gpus    = 1
    elastic = true
  }
  role "ps" {
    count   = 2
    threads = 0
  }
  runtime {
    startup = "30s"
    cluster {
      file    = "cluster_speed.csv"
      columns = { gpu = "device", seconds = "duration" }
      model   = "small"
      rates   = { P100 = 12 }
      regions = { "east west" = 0.8 }
    }
  }
}

job "given" {
  command = ["train"]
  steps   = 1000
  role "chief" {
    count = 1
  }
  runtime {
    cluster {
      rates     = { cpu = 2.5 }
      device    = "cpu"
      limit     = 10
      exponent  = 1
      sharpness = 3
      law       = "apart"
    }
  }
}

workload "both" {
  submit { job = job.measured }
  submit { job = job.given }
}

hardware "cloud" {
  engine = "simulated"
  node "east" {
    count   = 2
    threads = 2
    gpus    = 1
    gpu     = "K80"
    region  = "east"
  }
  node "west" {
    count   = 2
    threads = 2
    gpus    = 1
    gpu     = "P100"
    region  = "west"
  }
}

policy "fcfs" { order = "fcfs" }
