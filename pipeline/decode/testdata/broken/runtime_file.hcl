experiment "broken" {}

job "a" {
  command = ["train"]
  epochs  = 10
  runtime { file = "times.csv" }
}

job "b" {
  command = ["train"]
  epochs  = 10
  runtime {
    file           = "times.csv"
    threads_column = "cores"
    time_column    = "time"
  }
}

job "c" {
  command = ["train"]
  epochs  = 10
  runtime {
    file           = "times.csv"
    threads_column = "cores"
    time_column    = "time"
    where          = { model = "lenet" }
  }
}

job "d" {
  command = ["train"]
  epochs  = 10
  runtime { file = "nowhere.csv" }
}

workload "w" {
  submit { job = job.a }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
