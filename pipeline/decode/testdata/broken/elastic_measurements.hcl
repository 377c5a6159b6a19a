experiment "broken" {}

job "small" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic { measurements = "elastic" }
  }
}

job "missing" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic { measurements = "elsewhere" }
  }
}

job "other" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic { measurements = "../good/elastic.tgz" }
  }
}

job "smal" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic { measurements = "../good/elastic.tgz" }
  }
}

job "long" {
  command = ["train"]
  epochs  = 3
  gpus    = 1
  runtime {
    elastic {
      measurements = "../good/elastic.tgz"
      program      = "small"
    }
  }
}

job "large" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      measurements = "../good/elastic.tgz"
      program      = "small"
      batch        = 64
    }
  }
}

workload "w" {
  submit { job = job.small }
  submit { job = job.missing }
  submit { job = job.other }
  submit { job = job.smal }
  submit { job = job.long }
  submit { job = job.large }
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
