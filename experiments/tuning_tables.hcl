# How many trials do ways to search need to find cheap settings of a training job whose
# accuracy is at least 0.95? On a table of 288 settings, each of which was measured:
# nothing is trained. And how many dollars are saved by first trying settings with a
# part of the training set?
#
#   tfexp run experiments/tuning_tables.hcl
#
# It takes some minutes on two cores: 30 searches of each kind, thousands of models.
# tunings.csv has the trials until within 10% of the least cost (trials_to_10pct, with
# an interval) and the dollars until then (cost_to_10pct); the picture regret shows how
# far the best settings so far are behind, by trial.

experiment "tuning_tables" {
  description = "Which way of searching finds cheap settings of a training job in the fewest trials?"
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

# The same with any part of the training set, which is much cheaper.
job "parts" {
  recorded {
    file = "papers/tuning/cnn.csv"
    settings = {
      workers       = "n_workers"
      type          = "vm_flavor"
      learning_rate = "learning_rate"
      batch         = "batch_size"
      updates       = "synchronism"
      images        = "training_set_size"
    }
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

# With smaller training sets as cheap context: its cost_to_10pct in tunings.csv is to
# be held against that of bo without.
tune "parts" {
  job       = job.parts
  objective = "cost"
  trials    = 60

  setting "workers" { log = true }
  setting "type" {}
  setting "learning_rate" { log = true }
  setting "batch" { log = true }
  setting "updates" {}

  context "images" {
    log = true
    at  = 60000
  }

  constraint "accuracy" { min = 0.95 }
}
