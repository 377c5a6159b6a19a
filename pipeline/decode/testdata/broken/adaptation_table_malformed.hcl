experiment "e" {}

adaptation "net" {
  table     = "../deepening_malformed.csv"
  decisions = 2
  blocks    = 2

  controller "nothing" {}
}
