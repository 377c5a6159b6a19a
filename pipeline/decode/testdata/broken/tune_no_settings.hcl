experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = 1
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
}
