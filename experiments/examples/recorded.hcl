# Recorded runs, in tables whose columns and words are other ones than tfexp's.
experiment "recorded" {
  description = "How far is a run time in the file from the recorded runs?"
  replicates  = 3
}

job "train" {
  command = ["python3", "train.py"]
  steps   = 4000
  runtime { epoch = "160ms" }
}

workload "w" {
  submit { job = job.train }
}

hardware "recorded" {
  engine  = "recorded"
  runs    = "runs"
  threads = 1
  steps   = 4000
  columns = {
    time    = "clock"
    run     = "attempt"
    server  = "server"
    uptime  = "seconds"
    revoked = "ending"
  }
  revoked = ["gone"]
}

policy "fcfs" { order = "fcfs" }
