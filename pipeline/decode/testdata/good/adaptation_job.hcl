# Networks that are deepened in real training.
experiment "adaptation_job" {}

job "net" {
  builtin "mlp" { hidden = [32, 16] }
  budget    = "2s"
  malleable = true
}

hardware "here" {
  engine  = "process"
  threads = 2
}

adaptation "digits" {
  job       = job.net
  hardware  = hardware.here
  decisions = 2
  decide    = ["500ms", "1s"]
  repeats   = 2

  scenario "grows" {
    changes {
      at      = "400ms"
      threads = 2
    }
  }
  scenario "steady" {}

  controller "exhaustive" {}
  controller "agent" { leave_out = true }
  controller "few_runs" { runs = 4 }
}

adaptation "unknown" {
  job       = job.net
  hardware  = hardware.here
  decisions = 1

  controller "few_runs" { runs = 2 }
  controller "constant" { sequence = [1] }
}
