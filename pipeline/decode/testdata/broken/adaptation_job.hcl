experiment "broken" {}

job "net" {
  builtin "cnn" {}
  budget = "2s"
}

job "smooth" {
  builtin "mlp" { activation = "tanh" }
  budget = "2s"
}

job "flat" {
  builtin "softmax" {}
  budget = "2s"
}

job "endless" {
  builtin "mlp" {}
  epochs = 3
}

job "instant" {
  builtin "mlp" {}
  budget = "0s"
}

hardware "here" {
  engine  = "process"
  threads = 2
}

hardware "virtual" {
  engine  = "simulated"
  threads = 2
}

adaptation "nothing_to_do" {
  decisions = 2
  controller "nothing" {}
}

adaptation "tanh" {
  job       = job.smooth
  hardware  = hardware.here
  decisions = 2
  controller "exhaustive" {}
}

adaptation "no_block" {
  job       = job.flat
  hardware  = hardware.here
  decisions = 2
  controller "exhaustive" {}
}

adaptation "no_budget" {
  job       = job.endless
  hardware  = hardware.here
  decisions = 2
  controller "exhaustive" {}
}

adaptation "no_time" {
  job       = job.instant
  hardware  = hardware.here
  decisions = 2
  controller "exhaustive" {}
}

adaptation "virtual" {
  job       = job.net
  hardware  = hardware.virtual
  decisions = 2
  controller "exhaustive" {}
}

adaptation "times" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  decide    = ["1s", "2s"]
  controller "exhaustive" {}
}

adaptation "one_time" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  decide    = "1s"
  controller "exhaustive" {}
}

adaptation "rigid" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  scenario "grows" {
    changes {
      at      = "1s"
      threads = 2
    }
  }
  controller "exhaustive" {}
}

adaptation "blocks" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  blocks    = 5
  controller "exhaustive" {}
}

adaptation "no_table" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  controller "agent" {}
}

adaptation "action" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  controller "constant" { sequence = [0, 4] }
}

adaptation "wide" {
  job       = job.net
  decisions = 2
  repeats   = 2
  controller "nothing" {}
}

adaptation "table" {
  table     = "catalogue.csv"
  decisions = 2
  repeats   = 2
  scenario "early" {}
  controller "exhaustive" {}
}
