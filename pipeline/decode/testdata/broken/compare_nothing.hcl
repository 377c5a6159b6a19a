experiment "compare_nothing" {}

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

compare "mean_jct" {}

