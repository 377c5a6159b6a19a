experiment "requested_lacking" {}

workload "log" {
  trace { file = "../unrequested.swf" }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "easy" {
  order     = "fcfs"
  backfill  = "easy"
  estimates = "requested"
}
