experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = 1
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  method    = "grid"
  setting "learning_rate" {
    min = 0.001
    max = 0.1
  }
}
