experiment "references_twice" {}

job "j" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.j }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }

reference "same_name" { file = "references_twice.csv" }

reference "same_meaning" {
  file    = "references_twice_meant.csv"
  columns = { mean_jct_s = "jct" }
}
