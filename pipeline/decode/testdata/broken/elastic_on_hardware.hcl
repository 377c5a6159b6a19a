experiment "broken" {}

job "elastic" {
  command = ["true"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic { measurements = "../good/elastic/small" }
  }
}

job "plain" {
  command = ["true"]
  epochs  = 2
  gpus    = 1
  runtime { epoch = "1s" }
}

job "cores" {
  command = ["true"]
  epochs  = 2
  runtime { epoch = "1s" }
}

workload "elastic" {
  submit { job = job.elastic }
}

workload "plain" {
  submit { job = job.plain }
}

workload "cores" {
  submit { job = job.cores }
}

hardware "noisy" {
  engine = "simulated"
  noise  = 0.1
  node "n" {
    threads = 4
    gpus    = 4
  }
}

hardware "exact" {
  engine = "simulated"
  node "n" {
    threads = 4
    gpus    = 4
  }
}

hardware "here" {
  engine  = "process"
  threads = 1
}

policy "pollux" {
  order  = "pollux"
  rounds = "60s"
}

policy "tiresias" {
  order  = "tiresias"
  rounds = "60s"
}

matrix {
  workload = [workload.elastic, workload.plain, workload.cores]
  hardware = [hardware.noisy, hardware.exact, hardware.here]
  policy   = [policy.pollux, policy.tiresias]
}
