experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = 1
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  method    = "bayes"
  setting "batch" { values = [8, 16] }
}
