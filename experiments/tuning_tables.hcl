experiment "tuning_tables" {
  description = "How many trials find cheap settings of a training job? Ways to search, on a measured table"
  seed        = 1
  replicates  = 30
  records     = "metrics"
}

locals {
  # Dollars an hour.
  price = {
    "t2.small"   = 0.023
    "t2.medium"  = 0.0464
    "t2.xlarge"  = 0.1856
    "t2.2xlarge" = 0.3712
  }
}

# A convolutional network on MNIST, with TensorFlow parameter servers on virtual
# machines, measured at 288 settings (papers/tuning/README.md).
job "cnn" {
  recorded {
    file = "papers/tuning/cnn.csv"
    settings = {
      workers       = "n_workers"
      type          = "vm_flavor"
      learning_rate = "learning_rate"
      batch         = "batch_size"
      updates       = "synchronism"
    }
    where    = { training_set_size = "60000" }
    time     = row.training_time
    accuracy = row.acc
    cost     = row.training_time / 3600 * row.n_workers * local.price[row.vm_flavor]
  }
}

hardware "cloud" {
  engine  = "simulated"
  threads = 1
}

matrix {
  method = ["bo", "selftf", "random"]
}

tune "cnn" {
  job       = job.cnn
  objective = "cost"
  method    = each.method
  trials    = 40

  setting "workers" { log = true }
  setting "type" {}
  setting "learning_rate" { log = true }
  setting "batch" { log = true }
  setting "updates" {}

  constraint "accuracy" { min = 0.95 }
}
