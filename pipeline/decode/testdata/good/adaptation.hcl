experiment "e" {}

adaptation "net" {
  table     = "../deepening.csv"
  decisions = 2
  blocks    = 2
  columns   = { accuracy = "acc", time_left = "timeleft" }
  seeds     = 3

  controller "agent" {
    episodes = 640
    rate     = 0.001
  }

  controller "agent" {
    name      = "unseen"
    leave_out = true
  }

  controller "agent" {
    name          = "transferred"
    transfer_from = "unseen"
    episodes      = 320
  }

  controller "agent" {
    name          = "taught"
    curriculum    = ["late", "early"]
    next_episodes = 100
  }

  controller "constant" {
    sequence = [1, 2]
  }

  controller "few_runs" {
    runs = 4
  }

  controller "best_elsewhere" {}
}
