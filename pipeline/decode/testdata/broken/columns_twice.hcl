experiment "columns_twice" {}

job "cluster" {
  command = ["train"]
  steps   = 100
  role "worker" { count = 1 }
  runtime {
    cluster {
      file    = "columns_twice.csv"
      columns = { parameter_servers = "ps", workers = "worker", seconds = "time" }
    }
  }
}

job "losses" {
  command     = ["train"]
  epochs      = 2
  target_loss = 0.1
  runtime {
    epoch  = "1s"
    losses = "losses_twice.csv"
  }
}

workload "w" {
  submit { job = job.losses }
}

hardware "h" {
  engine  = "simulated"
  threads = 1
}

policy "fcfs" { order = "fcfs" }
