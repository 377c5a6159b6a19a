experiment "runtimes" { replicates = 1 }

job "table" {
  command = ["train"]
  epochs  = 10
  threads = 2
  runtime { table = { 1 = "100s", 4 = "30s", 2 = "55s" } }
}

job "file" {
  command = ["train"]
  epochs  = 10
  threads = 2
  runtime {
    file           = "times.csv"
    threads_column = "cores"
    time_column    = "time"
    where          = { model = "resnet" }
    per            = "epoch"
    startup        = "2s"
  }
}

job "curve" {
  command = ["train"]
  epochs  = 10
  threads = 4
  runtime {
    epoch   = exponential("1s")
    speedup = each.curve
  }
}

workload "w" {
  submit { job = job.table }
  submit { job = job.file }
  submit { job = job.curve }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }

matrix {
  curve = [amdahl(0.9), usl(0.05, 0.001), { 2 = 1.8, 4 = 3.1 }]
}
