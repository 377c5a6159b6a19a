experiment "e" {}

adaptation "small" {
  table     = "../deepening_one.csv"
  decisions = 1

  controller "agent" {
    name = "taught"
  }
}

adaptation "net" {
  table     = "../deepening.csv"
  decisions = 2

  controller "agent" {
    transfer_from = "taught"
  }
}
