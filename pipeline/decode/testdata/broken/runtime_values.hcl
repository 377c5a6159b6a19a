experiment "broken" {}

job "a" {
  command = ["train"]
  epochs  = 10
  runtime { table = { one = "100s", 2 = 55, 4 = "0s", 8 = "3 s" } }
}

job "b" {
  command = ["train"]
  epochs  = 10
  runtime {
    epoch   = "1s"
    speedup = { 1 = 2, 2 = 0, 4 = "fast" }
  }
}

job "c" {
  command = ["train"]
  epochs  = 10
  runtime {
    epoch   = "1s"
    speedup = 0.9
  }
}

job "d" {
  command = ["train"]
  epochs  = 10
  runtime {
    epoch   = "1s"
    speedup = usl(2, 0.1)
  }
}

job "e" {
  command = ["train"]
  epochs  = 10
  runtime { table = "100s" }
}

job "f" {
  command = ["train"]
  epochs  = 10
  runtime { table = {} }
}

job "g" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = { 1 = "100s" } }
}

workload "w" {
  submit { job = job.a }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
