# Searches for settings: by trials that are jobs of their own, and by changing one job while it trains.
experiment "search" {
  description = "Which batch size and learning rate are fastest to an accuracy?"
  replicates  = 1
}

job "digits" {
  builtin "softmax" {}
  epochs = 4
}

hardware "here" { engine = "process" }

tune "trials" {
  job        = job.digits
  objective  = "time"
  method     = "hill_climb"
  trials     = 12
  warm_start = "earlier.csv"
  setting "batch" {
    values  = [16, 32, 64]
    initial = 32
  }
  setting "learning_rate" {
    min     = 0.001
    max     = 0.1
    log     = true
    integer = false
  }
  constraint "accuracy" { min = 0.5 }
}

tune "cheap_first" {
  job       = job.digits
  objective = "accuracy"
  method    = "bo"
  trials    = 8
  budget    = "10m"
  per_cost  = true
  setting "learning_rate" {
    min = 0.001
    max = 0.1
    log = true
  }
}

tune "while_it_trains" {
  job        = job.digits
  objective  = "time"
  mode       = "online"
  trials     = 4
  stretch    = 2
  confidence = 0.8
  setting "batch" {
    values = [16, 32, 64]
    live   = true
  }
}
