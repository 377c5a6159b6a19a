# Rented servers that are taken away: what they cost on the spot market, how long they live, and what replaces them.
experiment "spot" {
  description = "Is the spot market still cheaper when its servers live for hours?"
  replicates  = 5
  currency    = "EUR"
}

job "train" {
  command  = ["python3", "train.py"]
  epochs   = 40
  threads  = 8
  deadline = "30h"
  retries  = 20
  runtime { epoch = "2h" }
  checkpoint {
    every   = "30m"
    cost    = "1m"
    restore = "2m"
  }
}

workload "w" {
  submit {
    job   = job.train
    count = 2
  }
}

hardware "spot" {
  engine = "simulated"
  node "s" {
    count           = 2
    threads         = 8
    acquire         = "on_request"
    idle            = "5m"
    lifetime        = exponential("6h")
    max_lifetime    = "24h"
    warning         = "2m"
    startup         = "3m"
    price           = 0.3
    on_demand_price = 1
    replace         = "on_demand"
    replace_limit   = 3
  }
  billing { minimum = "1m" }
}

hardware "on_demand" {
  engine = "simulated"
  node "d" {
    count   = 2
    threads = 8
    acquire = "on_request"
    market  = "on_demand"
    startup = "3m"
    price   = 1
  }
}

policy "fcfs" { order = "fcfs" }

compare "cost_usd" { baseline = { hardware = "on_demand" } }
