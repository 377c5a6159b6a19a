# The ways to say how long jobs take in simulation: a formula, a table, a file with measurements, losses until a target;
# and arrivals from a file.
experiment "run_times" {
  description = "Are the times of a table as good as a formula?"
  replicates  = 3
}

job "measured" {
  command = ["python3", "train.py"]
  dir     = "."
  env     = { BATCH = "64" }
  epochs  = 10
  threads = 2
  runtime {
    file           = "times.csv"
    threads_column = "cores"
    time_column    = "time_s"
    where          = { model = "resnet" }
    per            = "epoch"
    startup        = "2s"
  }
}

job "to_target" {
  command     = ["python3", "train.py"]
  epochs      = 12
  target_loss = 0.4
  time_writer = "longest"
  runtime {
    epoch       = "3s"
    losses      = "losses.csv"
    loss_column = "training_loss"
  }
}

job "fixed" {
  command = ["python3", "train.py"]
  epochs  = 12
  runtime {
    epoch          = "3s"
    final_accuracy = 0.91
    final_loss     = 0.3
  }
}

workload "w" {
  submit {
    job       = job.measured
    at_file   = "arrivals.csv"
    at_column = "submitted_s"
  }
  submit {
    job   = job.to_target
    count = 4
  }
  submit {
    job   = job.fixed
    count = 4
  }
}

hardware "shared" {
  engine  = "simulated"
  threads = 16
  noise   = 0.02
  contention {
    file             = "side_by_side.csv"
    cores_column     = "cores_each"
    jobs_column      = "containers"
    time_column      = "time_s"
    measured_threads = 16
  }
}

# Contention by a law. Its first part keeps one core of each job busy.
hardware "by_law" {
  engine  = "simulated"
  threads = 16
  contention {
    serial   = 0.05
    capacity = 0.8
  }
}

# An engine without pauses: round robin is not possible here, and FCFS is.
hardware "no_pause" {
  engine  = "simulated"
  threads = 8
  lacks   = ["pause", "migrate"]
}

policy "fcfs" { order = "fcfs" }

policy "shortest" {
  order      = "srtf"
  preemption = "pause"
  rank_by    = "whole"
}

matrix {
  exclude { when = hardware.name == "no_pause" && policy.name == "shortest" }
}

compare "mean_jct" {
  baseline = policy.fcfs
  level    = 0.9
}
