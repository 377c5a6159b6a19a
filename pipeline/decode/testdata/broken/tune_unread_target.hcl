experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = 1
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  target    = 0.9
  setting "batch" { values = [1, 2] }
}
