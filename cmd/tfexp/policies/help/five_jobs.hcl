experiment "five_jobs" {}

# One small picture, and no others: nobody sees them.
plot "jct" {}

job "a" {
  command  = ["train"]
  epochs   = 32
  threads  = 2
  gpus     = 2
  priority = 2
  runtime { epoch = "500ms" }
}

job "b" {
  command  = ["train"]
  epochs   = 24
  threads  = 2
  gpus     = 2
  priority = 2
  runtime { epoch = "500ms" }
}

job "c" {
  command  = ["train"]
  epochs   = 32
  threads  = 4
  gpus     = 4
  priority = 1
  deadline = "28s"
  runtime { epoch = "500ms" }
}

job "d" {
  command  = ["train"]
  epochs   = 4
  threads  = 1
  gpus     = 1
  priority = 0
  deadline = "4s"
  runtime { epoch = "500ms" }
}

job "e" {
  command  = ["train"]
  epochs   = 6
  threads  = 1
  gpus     = 1
  priority = 1
  deadline = "14s"
  runtime { epoch = "500ms" }
}

workload "five" {
  submit {
    job   = job.a
    start = "0s"
    user  = "ann"
  }
  submit {
    job   = job.b
    start = "0s"
    user  = "bob"
  }
  submit {
    job   = job.c
    start = "1s"
    user  = "ann"
  }
  submit {
    job   = job.d
    start = "2s"
    user  = "bob"
  }
  submit {
    job   = job.e
    start = "3s"
    user  = "cy"
  }
}

hardware "node" {
  engine = "simulated"
  node "n" {
    threads = 4
    gpus    = 4
    gpu     = "v100"
  }
}
