experiment "profiling_arguments" { seed = 1 }

job "short" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "8s" }
}

workload "w" {
  submit { job = job.short }
}

hardware "h" {
  engine  = "simulated"
  threads = 2
}

policy "too_much" {
  order     = "sjf"
  profiling = 1.5
}

policy "unread" {
  order     = "fcfs"
  profiling = 0.03
}

policy "by_user" {
  order       = "sjf"
  profiling   = 0.03
  profiled_by = "user"
}

policy "by_itself" {
  order       = "sjf"
  profiled_by = "class"
}
