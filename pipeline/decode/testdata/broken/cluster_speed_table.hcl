experiment "cluster_speed_table" {}

job "malformed" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster { file = "cluster_speed.csv" }
  }
}

job "several" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster { file = "../good/cluster_speed.csv" }
  }
}

job "unknown" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster {
      file    = "../good/cluster_speed.csv"
      columns = { gpu = "device", seconds = "duration" }
      model   = "huge"
    }
  }
}

job "facts" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster {
      file    = "../good/cluster_speed.csv"
      columns = { color = "device" }
    }
  }
}

job "missing" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster { file = "no_such_file.csv" }
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
