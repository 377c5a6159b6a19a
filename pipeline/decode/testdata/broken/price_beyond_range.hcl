experiment "x" {}

job "a" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine = "simulated"
  node "s" {
    threads         = 1
    acquire         = "on_request"
    price           = 1e9
    on_demand_price = 1e308
  }
}

policy "fcfs" { order = "fcfs" }
