experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = 2
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  method    = "halving"
  setting "batch" { values = [8, 16] }
}
