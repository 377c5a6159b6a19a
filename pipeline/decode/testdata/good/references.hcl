experiment "referred" {}

job "j" {
  command = ["train"]
  epochs  = 10
  threads = each.servers
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

matrix {
  servers = [1, 2]
}

compare "mean_jct" { baseline = { servers = "1" } }

reference "relative" {
  file        = "references.csv"
  columns     = { mean_jct_s = "time" }
  relative_to = policy.fcfs
}

reference "paper" {
  file    = "references.csv"
  columns = { mean_jct_s = "time" }
  doc     = "Table 2"
}
