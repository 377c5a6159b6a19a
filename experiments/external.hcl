# Policies in Python beside the built-in ones: the same schedules where they are the same, and an agent that learns
# from replicate to replicate. Simulated; needs Python 3.9 or newer, and nothing else.
#
#   tfexp run experiments/external.hcl

experiment "external" {
  description = "What do EASY backfilling, preemption by attained service, equal shares and a learning agent bring, all in Python?"
  seed        = 11
  replicates  = 10
}

job "wide" {
  command = ["train"] # a name; nothing is started
  epochs  = 20
  threads = {
    request = 4
    min     = 1
    max     = 8
  }
  malleable = true
  runtime {
    epoch    = exponential("9s")
    parallel = 0.95
  }
}

job "narrow" {
  command = ["train"]
  epochs  = 5
  threads = 1
  runtime { epoch = exponential("6s") }
}

workload "mixed" {
  submit {
    job          = job.wide
    count        = 20
    interarrival = exponential("90s")
  }
  submit {
    job          = job.narrow
    count        = 80
    interarrival = exponential("22s")
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 8
}

policy "fcfs" { order = "fcfs" }

policy "easy" {
  order   = "external"
  command = ["python3", "../jobs/tfexp_policy/examples/easy.py"]
}

policy "las" {
  order    = "external"
  command  = ["python3", "../jobs/tfexp_policy/examples/las.py"]
  settings = { quantum = "30s" }
}

policy "share" {
  order   = "external"
  command = ["python3", "../jobs/tfexp_policy/examples/equal_share.py"]
}

policy "agent" {
  order    = "external"
  command  = ["python3", "../jobs/tfexp_policy/examples/q_learning.py"]
  settings = { rate = 0.2, explores = 0.5 }
  learns   = true
}

matrix {
  workload = [workload.mixed]
  hardware = [hardware.machine]
  policy   = [policy.fcfs, policy.easy, policy.las, policy.share, policy.agent]
}

compare "mean_jct" { baseline = policy.fcfs }
