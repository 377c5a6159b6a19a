experiment "e" {}

job "a" {
  command = ["train"]
  epochs  = 3
  runtime {
    epoch  = "1s"
    losses = "losses.csv"
  }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine  = "simulated"
  threads = 1
}

policy "srtf" {
  order     = "srtf"
  estimates = "loss_curve"
}
