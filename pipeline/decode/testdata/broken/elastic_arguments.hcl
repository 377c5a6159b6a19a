experiment "broken" {}

job "both" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    parallel = 0.5
    elastic {
      measurements = "elastic"
      alpha_c      = 0.1
    }
  }
}

job "neither" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      gradient_square = 1
      program         = "small"
    }
  }
}

job "steps" {
  command = ["train"]
  steps   = 2
  gpus    = 1
  runtime {
    elastic { measurements = "elastic" }
  }
}

job "no_gpus" {
  command = ["train"]
  epochs  = 2
  runtime {
    elastic { measurements = "elastic" }
  }
}

job "roles" {
  command = ["train"]
  epochs  = 2
  role "worker" {
    count = 2
    gpus  = 1
  }
  runtime {
    elastic { measurements = "elastic" }
  }
}

job "limits" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      gradient_square   = 1
      gradient_variance = 1
      samples           = 1000
      first_batch       = 128
      max_batch         = 64
      beta_c            = 0.1
    }
  }
}

workload "w" {
  submit { job = job.both }
  submit { job = job.neither }
  submit { job = job.steps }
  submit { job = job.no_gpus }
  submit { job = job.roles }
  submit { job = job.limits }
}

hardware "h" {
  engine = "simulated"
  node "n" {
    threads = 4
    gpus    = 4
  }
}

policy "pollux" {
  order  = "pollux"
  rounds = "60s"
}
