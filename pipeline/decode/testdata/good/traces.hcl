experiment "traces" {
  replicates = 2
}

job "deep" {
  command   = ["train"]
  epochs    = 10
  threads   = { inter = 1, intra = 3, min = 2 }
  malleable = true
  priority  = 4
  memory    = "1GiB"
}

job "gang" {
  command = ["train"]
  epochs  = each.epochs
  threads = 4
  nodes   = 2
}

job "due" {
  command  = ["train"]
  epochs   = 1
  deadline = "20s"
}

workload "requests" {
  trace {
    file = "load.requests"
    jobs = { "hub/gan" = job.deep, c = job.gang }
  }
}

workload "log" {
  trace {
    file                  = "../cluster.swf"
    job                   = job.gang
    time_scale            = 0.5
    resolution            = "1s"
    start                 = "1m"
    min_runtime           = "1s"
    limit                 = 3
    threads_per_processor = 2
  }
}

workload "instants" {
  submit {
    job       = job.due
    at_file   = "instants.csv"
    at_column = "submitted"
  }
}

hardware "cluster" {
  engine = "simulated"
  node "n" {
    count   = 2
    threads = 64
  }
}

policy "fcfs" { order = "fcfs" }

matrix {
  epochs = [5, 10]
}
