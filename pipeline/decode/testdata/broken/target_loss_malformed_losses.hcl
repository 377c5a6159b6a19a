experiment "e" {}

job "a" {
  command     = ["train"]
  epochs      = 10
  target_loss = 0.1
  runtime {
    epoch  = "1s"
    losses = "losses_malformed.csv"
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
