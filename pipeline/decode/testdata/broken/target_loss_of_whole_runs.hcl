experiment "e" {}

job "a" {
  command     = ["train"]
  epochs      = 3
  target_loss = 0.5
  runtime {
    table  = { 1 = "10s" }
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
