experiment "e" {}

adaptation "lines" {
  table     = "../deepening_doubtful.csv"
  decisions = 2

  controller "nothing" {}
}

adaptation "columns" {
  table     = "../deepening_twice.csv"
  decisions = 1

  controller "nothing" {}
}

adaptation "one_scenario" {
  table     = "../deepening.csv"
  decisions = 2
  columns   = { scenario = "totaltime" }

  controller "best_elsewhere" {}

  controller "agent" {
    leave_out = true
  }
}
