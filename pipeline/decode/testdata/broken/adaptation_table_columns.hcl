experiment "e" {}

adaptation "net" {
  table     = "../deepening.csv"
  decisions = 3
  columns   = { acuracy = "acc" }

  controller "nothing" {}
}

adaptation "short" {
  table     = "../deepening.csv"
  decisions = 1

  controller "nothing" {}
}

adaptation "nowhere" {
  table     = "../absent.csv"
  decisions = 2

  controller "nothing" {}
}
