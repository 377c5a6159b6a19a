experiment "broken" {}

job "a" {
  command = ["train"]
  epochs  = 10
  runtime {
    startup = "1s"
    table   = { 1 = "100s", 2 = "55s" }
    epoch   = "1s"
    speedup = amdahl(0.9)
  }
}

job "b" {
  command = ["train"]
  epochs  = 10
  runtime {
    epoch       = "1s"
    parallel    = 0.9
    speedup     = usl(0.1, 0.01)
    per         = "epoch"
    time_column = "time"
  }
}

job "c" {
  command = ["train"]
  epochs  = 10
  runtime { startup = "1s" }
}

job "d" {
  command = ["train"]
  epochs  = 10
  runtime {
    table = { 1 = "100s" }
    file  = "times.csv"
  }
}

job "e" {
  command = ["train"]
  epochs  = 10
  runtime {
    table = { 1 = "100s" }
    where = { model = "a" }
  }
}

workload "w" {
  submit { job = job.a }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
