experiment "e" {}
job "cnn" {
  recorded {
    file     = "../measured.csv"
    settings = { workers = "n_worker", type = "vm" }
    time     = row.training_times
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
tune "t" {
  job       = job.cnn
  objective = "time"
  setting "workers" {}
  setting "type" {}
}
