experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = each.epochs
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  setting "batch" { values = [8, 16] }
  context "epochs" {
    values = [1, 3, 9]
    at     = 4
  }
}
