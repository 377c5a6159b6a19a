# A job that is tuned while it trains.
experiment "tuned" { replicates = 1 }

job "tuned" {
  builtin "mlp" {}
  epochs      = 30
  target_loss = 0.1
}

hardware "here" {
  engine  = "process"
  threads = 2
}

tune "tuned" {
  job       = job.tuned
  objective = "time_to_loss"
  target    = 0.1
  mode      = "online"
  trials    = 4
  setting "batch" { values = [16, 32] }
}
