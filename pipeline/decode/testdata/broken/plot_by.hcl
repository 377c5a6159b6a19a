# A metric that is not available by class, a kind that divides no jobs, and no way to divide them.

experiment "e" {
  replicates = 3
}

job "a" {
  command = ["train"]
  epochs  = 2
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine  = "simulated"
  threads = 1
}

policy "fcfs" { order = "fcfs" }

plot "metrics" {
  metric = "makespan"
  by     = "class"
}

plot "gantt" { by = "class" }

plot "series" { by = "clas" }
