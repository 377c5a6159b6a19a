experiment "references" {}

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

reference "rows" { file = "references.csv" }

reference "columns" {
  file    = "references.csv"
  columns = { hours = "mean_jct_s" }
}

reference "metrics" {
  file    = "references.csv"
  columns = { policy = "mean_jct_s", replicate = "policy" }
}

reference "missing" { file = "none.csv" }
