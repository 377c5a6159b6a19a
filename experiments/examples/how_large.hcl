# The smallest cluster that keeps a promise, found by bisection; under a policy that draws at random as well.
experiment "how_large" {
  description = "How many nodes let 95 of 100 jobs start within ten minutes?"
  replicates  = 3
}

job "train" {
  command = ["python3", "train.py"]
  epochs  = 1
  threads = 8
  runtime { epoch = exponential("40m") }
}

workload "day" {
  submit {
    job          = job.train
    count        = 300
    interarrival = exponential("20s")
  }
}

hardware "cluster" {
  engine = "simulated"
  node "n" {
    count   = each.nodes
    threads = 16
  }
}

policy "fcfs" { order = "fcfs" }

policy "lottery" {
  order   = "external"
  command = ["python3", "lottery.py"]
  files   = ["lottery.py"]
  random  = true
}

matrix { nodes = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16] }

size "nodes" {
  metric = "p95_waiting"
  max    = "10m"
  bisect = true
}
