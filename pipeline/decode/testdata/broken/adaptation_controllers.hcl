experiment "e" {}

adaptation "net" {
  table     = "../deepening.csv"
  decisions = 2

  controller "constant" {
    sequence = [1, 5]
  }

  controller "constant" {
    name     = "short"
    sequence = [1]
  }

  controller "agent" {
    train_on = ["erly"]
  }

  controller "agent" {
    name      = "nothing_left"
    train_on  = ["early"]
    leave_out = true
  }
}

adaptation "second" {
  table     = "../deepening.csv"
  decisions = 2

  controller "agent" {
    transfer_from = "unsen"
  }

  controller "agent" {
    name          = "unseen"
    curriculum    = ["early"]
    leave_out     = true
  }

  controller "agent" {
    name          = "again"
    next_episodes = 10
  }

  controller "greedy" {}
  controller "greedy" {}
  controller "gredy" {}
}

adaptation "empty" {
  table     = "../deepening.csv"
  decisions = 2
}
