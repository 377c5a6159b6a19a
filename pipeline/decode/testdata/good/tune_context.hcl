experiment "context" { replicates = 2 }

job "digits" {
  builtin "mlp" {}
  epochs = each.epochs
}

hardware "here" { engine = "process" }

matrix { method = ["bo", "halving"] }

tune "digits" {
  job       = job.digits
  objective = "accuracy"
  method    = each.method
  trials    = 12
  parallel  = 2
  per_cost  = true

  setting "batch" { values = [8, 16, 32, 64] }
  context "epochs" {
    values = [1, 3, 9]
    log    = true
  }
}
