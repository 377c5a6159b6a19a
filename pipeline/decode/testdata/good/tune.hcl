# A tuning of a recorded job by two methods, and one of a program.
experiment "tune" { replicates = 2 }

plot "metrics" {}

matrix { method = ["bo", "random"] }

job "cnn" {
  recorded {
    file     = "../measured.csv"
    where    = { samples = "60000" }
    settings = { workers = "n_workers", type = "vm" }
    time     = row.training_time
    accuracy = row.acc
    cost     = row.training_time * row.n_workers * { small = 1, large = 2 }[row.vm]
  }
}

job "digits" {
  builtin "mlp" {}
  epochs = 2
  runtime { epoch = "2s" }
}

hardware "cloud" {
  engine  = "simulated"
  threads = 8
}

tune "cnn" {
  job       = job.cnn
  objective = "cost"
  method    = each.method
  setting "workers" { log = true }
  setting "type" {}
  constraint "accuracy" { min = 0.85 }
}

tune "digits" {
  job       = job.digits
  objective = "throughput"
  trials    = 3
  limit     = "1h"
  setting "batch" { values = [16, 32] }
  setting "threads" {
    min     = 1
    max     = 4
    initial = 2
  }
}
