experiment "e" {}

adaptation "net" {
  table     = "../deepening_lacks.csv"
  decisions = 2

  controller "nothing" {}
}
