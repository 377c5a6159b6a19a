experiment "two_laws" {}

job "both" {
  command = ["train"]
  steps   = 10
  role "worker" {
    count = 1
    gpus  = 1
  }
  runtime {
    cluster { rates = { K80 = 5 } }
    elastic {
      gradient_square   = 1
      gradient_variance = 1
      samples           = 100
      first_batch       = 8
    }
  }
}

workload "w" {
  submit { job = job.both }
}

hardware "h" {
  engine = "simulated"
  node "n" {
    threads = 1
    gpus    = 1
    gpu     = "K80"
  }
}

policy "fcfs" { order = "fcfs" }
