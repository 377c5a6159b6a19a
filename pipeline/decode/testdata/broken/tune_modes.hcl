# What the modes of a tuning that change one job do not have.
experiment "modes" {}

job "a" {
  builtin "mlp" {}
  epochs = 3
}

hardware "here" { engine = "process" }

tune "cost" {
  job       = job.a
  objective = "accuracy"
  mode      = "online"
  parallel  = 2

  setting "batch" { values = [16, 32] }
}

tune "unread" {
  job       = job.a
  objective = "time"
  stretch   = 3

  setting "batch" { values = [16, 32] }
}

tune "unchanged" {
  job        = job.a
  objective  = "time"
  mode       = "fixed"
  confidence = 0.5

  setting "batch" { values = [16, 32] }
}

tune "empty" {
  job       = job.a
  objective = ""
  mode      = "online"

  setting "batch" { values = [16, 32] }
}
