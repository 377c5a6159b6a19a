experiment "e" {}
job "j" {
  builtin "mlp" {}
  epochs = each.epochs
}
hardware "h" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "time"
  setting "epochs" { values = [1, 2] }
  context "epochs" { values = [1, 3, 9] }
}
