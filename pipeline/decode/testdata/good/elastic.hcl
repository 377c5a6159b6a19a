experiment "elastic" {
  replicates = 1
}

job "small" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    startup = "5s"
    elastic {
      measurements = "elastic"
      resolution   = "1s"
    }
  }
}

job "packed" {
  command = ["train"]
  epochs  = 1
  gpus    = 2
  runtime {
    elastic {
      measurements = "elastic.tgz"
      program      = "small"
      batch        = 16
      max_gpus     = 2
      max_batch    = 24
      max_per_gpu  = 6
    }
  }
}

job "law" {
  command = ["train"]
  epochs  = 3
  gpus    = 1
  runtime {
    elastic {
      alpha_c           = 0.012
      beta_c            = 0.0035
      alpha_n           = 0.06
      beta_n            = 0.004
      alpha_r           = 0.02
      beta_r            = 0.001
      gamma             = 2.5
      gradient_square   = 0.002
      gradient_variance = 0.05
      samples           = 50000
      first_batch       = 128
      max_batch         = 2048
      max_per_gpu       = 256
    }
  }
}

workload "both" {
  trace {
    file          = "elastic.csv"
    format        = "pollux"
    gpus_per_node = 4
  }
  submit { job = job.packed }
  submit {
    job   = job.law
    count = 2
  }
}

hardware "gpus" {
  engine = "simulated"
  node "n" {
    count   = 4
    threads = 4
    gpus    = 4
  }
}

matrix { policy = [policy.pollux, policy.optimus, policy.tiresias, policy.fcfs] }

policy "pollux" {
  order         = "pollux"
  rounds        = "60s"
  restart_delay = "20s"
}

policy "optimus" {
  order  = "optimus"
  rounds = "60s"
}

policy "tiresias" {
  order     = "tiresias"
  rounds    = "60s"
  demotion  = "57600s"
  promotion = 8
}

policy "fcfs" { order = "fcfs" }
