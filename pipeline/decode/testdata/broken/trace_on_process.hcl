experiment "broken" {}

job "deep" {
  command = ["train"]
  epochs  = 10
  threads = 4
}

workload "w" {
  trace {
    file = "../cluster.swf"
    limit = 1
  }
}

hardware "m" {
  engine = "process"
}

policy "fcfs" { order = "fcfs" }
