# GPUs of several types: a job whose speed follows a law of its GPUs and batch size, one with workers and parameter
# servers, and the published policies for them.
experiment "gpus" {
  description = "Which policy gives GPUs to those who use them best?"
  replicates  = 3
}

job "elastic" {
  command = ["python3", "train.py"]
  epochs  = 6
  gpus    = 1
  runtime {
    elastic {
      first_batch       = 128
      max_batch         = 2048
      min_per_gpu       = 16
      max_per_gpu       = 256
      alpha_c           = 0.012
      beta_c            = 0.0035
      alpha_r           = 0.02
      beta_r            = 0.001
      alpha_n           = 0.06
      beta_n            = 0.004
      gamma             = 2.5
      gradient_square   = 0.002
      gradient_variance = 0.05
      samples           = 50000
      max_gpus          = 8
      resolution        = "1s"
    }
    gpu_rate = { K80 = 1, V100 = 4 }
  }
}

workload "elastic_jobs" {
  submit {
    job          = job.elastic
    count        = 8
    interarrival = exponential("2m")
  }
}

job "trainer" {
  command = ["python3", "train.py"]
  steps   = 4000
  role "worker" {
    count   = 2
    gpus    = 1
    elastic = true
    vital   = true
  }
  role "ps" {
    count   = 1
    threads = 1
  }
  runtime {
    startup = "10s"
    cluster {
      rates    = { K80 = 5, V100 = 20 }
      limit    = 30
      exponent = 0.9
      law      = "apart"
    }
  }
}

job "on_cores" {
  command = ["python3", "train.py"]
  steps   = 1000
  role "worker" { count = 2 }
  role "ps" { count = 1 }
  runtime {
    cluster {
      rates  = { cpu = 2.5 }
      device = "cpu"
      limit  = 10
    }
  }
}

workload "parts" {
  submit {
    job   = job.trainer
    count = 2
  }
  submit { job = job.on_cores }
}

job "rated" {
  command = ["python3", "train.py"]
  epochs  = 1
  gpus    = 1
  runtime {
    epoch    = exponential("10m")
    gpu_rate = { K80 = 1, V100 = 4 }
  }
}

workload "rated_jobs" {
  submit {
    job          = job.rated
    count        = 20
    interarrival = exponential("2m")
  }
}

hardware "cluster" {
  engine = "simulated"
  node "old" {
    count   = 2
    threads = 8
    gpus    = 2
    gpu     = "K80"
  }
  node "new" {
    count   = 2
    threads = 8
    gpus    = 2
    gpu     = "V100"
  }
}

policy "sia" {
  order    = "sia"
  rounds   = "1m"
  fairness = -1
  unserved = 1.5
}

policy "fcfs" { order = "fcfs" }

policy "min_cost" {
  order        = "min_cost"
  rounds       = "1m"
  prices       = ["V100=2.48", "K80=0.45"]
  global_queue = true
  give_back    = "at_once"
}

policy "blind" {
  order     = "max_min"
  rounds    = "1m"
  blind     = "K80"
  type_seed = 1
}

matrix {
  exclude { when = policy.name == "sia" && workload.name != "elastic_jobs" }
  exclude { when = policy.name == "min_cost" && workload.name != "rated_jobs" }
  exclude { when = policy.name == "blind" && workload.name != "rated_jobs" }
}

compare "mean_jct" { baseline = policy.fcfs }
