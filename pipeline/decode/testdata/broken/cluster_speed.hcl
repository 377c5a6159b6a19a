experiment "cluster_speed" {}

job "without_roles" {
  command = ["train"]
  steps   = 100
  runtime {
    cluster { rates = { K80 = 4 } }
  }
}

job "epochs" {
  command = ["train"]
  epochs  = 100
  role "worker" { count = 1 }
  runtime {
    epoch = "1s"
    cluster {
      rates = { K80 = 4 }
      model = "small"
    }
  }
}

job "alone" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 2 }
  runtime {
    cluster {
      rates = { K80 = 4 }
      limit = 0
    }
  }
}

job "nothing" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 2 }
  runtime {
    cluster {
      limit   = 10
      device  = "V100"
      regions = { "east" = 0.5 }
    }
  }
}

job "pair" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster {
      rates   = { K80 = -4 }
      regions = { "east west" = 1.5 }
    }
  }
}

job "good" {
  command = ["train"]
  steps   = 100
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.good }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }
