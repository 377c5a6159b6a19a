# Logs with the run times of jobs, with those of their alternatives, and with neither.
experiment "logs" { replicates = 1 }

job "short" {
  command = ["x"]
  epochs  = 4
  runtime { epoch = normal("2s", "500ms") }
}

job "long" {
  command = ["x"]
  epochs  = 5
  runtime { epoch = "3s" }
}

job "two" {
  command = ["x"]
  epochs  = 4
  runtime { epoch = normal("2s", "500ms") }
  alternative "wide" {
    threads = 4
    runtime { epoch = exponential("500ms") }
  }
}

workload "either" {
  trace {
    file = "either.csv"
    columns = {
      job = "id", arrival = "submit", gpus = "gpus", run_time = "gpu_s", requested_time = "gpu_limit", user = "who"
      cpu_run_time = "cpu_s", cpu_threads = "cores", cpu_requested_time = "cpu_limit"
    }
  }
}

workload "asked" {
  trace {
    file    = "plain.csv"
    columns = { job = "id", arrival = "submit", threads = "threads", class = "kind", requested_time = "asked" }
    jobs    = { short = job.short, long = job.long }
  }
  submit {
    job          = job.two
    count        = 2
    interarrival = "1s"
  }
}

hardware "box" {
  engine  = "simulated"
  threads = 8
  gpus    = 1
}

policy "sjf" {
  order     = "sjf"
  estimates = "oracle"
}

policy "requested" {
  order     = "sjf"
  estimates = "requested"
}

matrix {
  workload = [workload.either, workload.asked]
  policy   = [policy.sjf, policy.requested]
  exclude {
    when = workload.name == "asked" && policy.name == "requested"
  }
}
