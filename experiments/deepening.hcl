# When should a network be deepened while it trains under a time budget, and is the
# answer of a table also that of real training? A small convolutional network learns
# handwritten digits for two and a half seconds; after 0.4 s it gets a second core, and then
# three decisions follow, each to deepen one of its three blocks or to do nothing.
# All 64 sequences are trained for real, which makes table.csv. Agents learn on that
# table, and then agents, heuristics and constant answers decide in real trainings
# beside it: ranking.csv and the report have their accuracy there against that of the
# same sequence in the table (fidelity).
#
#   tfexp run experiments/deepening.hcl
#
# takes about five minutes on two cores: three to train by all sequences, less than
# one for the agents to learn, and one for the controllers' own trainings. A run that was killed
# goes on where it was (tfexp resume results/deepening); no training that had finished is
# repeated. The digits are part of tfexp (jobs/digits/ATTRIBUTION.md).

experiment "deepening" {
  description = "When should a network be deepened under a time budget, and does the answer of a table hold in real training?"
  seed        = 1
}

variable "budget" {
  type    = duration
  default = "2.5s"
}

variable "repeats" {
  type    = number
  default = 3
}

job "net" {
  builtin "cnn" {
    filters       = [2, 4]
    hidden        = 16
    optimizer     = "sgd"
    learning_rate = 0.001
  }
  budget    = var.budget
  threads   = 1
  malleable = true
}

hardware "here" {
  engine  = "process"
  threads = 2
}

adaptation "digits" {
  job       = job.net
  hardware  = hardware.here
  decisions = 3
  decide    = ["500ms", "800ms", "1.1s"]
  seeds     = 3
  repeats   = var.repeats

  scenario "early" {
    changes {
      at      = "400ms"
      threads = 2
    }
  }

  controller "exhaustive" {}
  controller "agent" {}

  # A search that may look at 15 of the 64 trainings.
  controller "few_runs" {
    runs = 15
  }

  controller "best_constant" {}

  # The constant answer of the ancestor's tables.
  controller "constant" {
    sequence = [0, 1, 1]
  }

  controller "nothing" {}
  controller "random" {}
}
