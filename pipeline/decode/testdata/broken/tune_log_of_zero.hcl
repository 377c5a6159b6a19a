experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = 1
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  setting "batch" {
    min = 0
    max = 8
    log = true
  }
}
