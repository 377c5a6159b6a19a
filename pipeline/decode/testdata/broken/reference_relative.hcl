experiment "relative" {}

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

policy "sjf" { order = "sjf" }

matrix {
  policy  = [policy.fcfs]
  servers = [1, 2]
}

reference "never" {
  file        = "../good/references.csv"
  columns     = { mean_jct_s = "time" }
  relative_to = policy.sjf
}
