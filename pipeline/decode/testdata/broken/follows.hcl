experiment "follows" {}

job "parts" {
  command = ["train"]
  steps   = 100
  role "worker" {
    count   = 2
    elastic = "perhaps"
    min     = 2
  }
  role "ps" { count = 1.5 }
  runtime {
    cluster {
      rates   = { K80 = 5 }
      limit   = 44
      regions = { "east west" = 0.8 }
    }
  }
}

job "measured" {
  command = ["train"]
  epochs  = 10
  runtime {
    table   = { 1 = "10s" }
    startup = "2s"
    per     = "epochs"
  }
}

workload "w" {
  submit { job = job.parts }
  submit { job = job.measured }
}

hardware "rented" {
  engine = "simulated"
  node "n" {
    threads = 8
    gpus    = 1
    gpu     = "K80"
    region  = 1 / 0
  }
}

policy "fcfs" { order = "fcfs" }

policy "rents" {
  order        = "fcfs"
  provisioning = "greed"
  tick         = "1m"
}

plot "heatmap" {
  x = job
  y = "rate"
}

reference "paper" { file = "references.csv" }
