experiment "x" { replicates = 3 }

job "j" {
  command = ["train"]
  epochs  = 4
  runtime { epoch = "1s" }
}

workload "w" {
  submit {
    job          = job.j
    count        = 4
    interarrival = exponential(each.gap)
  }
}

hardware "h" {
  engine  = "simulated"
  threads = 1
}

policy "fcfs" { order = "fcfs" }

matrix {
  workload = [workload.w]
  hardware = [hardware.h]
  policy   = [policy.fcfs]
  gap      = ["1s", "3m"]
}

compare "mean_jct" {
  baseline = { each.gap = "3m" }
}
