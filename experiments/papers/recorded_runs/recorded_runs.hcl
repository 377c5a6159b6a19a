# Recorded training runs beside the simulation of the same configurations: hours,
# accuracy, dollars and revocations of ResNet-32 on one, two and four servers, on
# demand and spot.
#
# The records are part of the data behind "Speeding up Deep Learning with Transient
# Servers" (ICAC 2019); see README.md.

experiment "recorded_runs" {
  description = "What do more servers, spot servers and faster GPUs change in hours, accuracy and dollars, and how well does a run time with a speed-up law say so?"
  replicates  = 10
}

# The run time is what the file says, and only simulation goes by it: the mean step
# of one server, of which 99% speeds up with the workers. Revocations are not in it.
job "resnet32" {
  command = ["train", "resnet32"]
  steps   = 64000
  threads = { "1-k80" = 1, "2-k80" = 2, "4-k80" = 4, "4-k80-spot" = 4, "1-p100-spot" = 1 }[each.servers]
  runtime {
    epoch    = each.servers == "1-p100-spot" ? "84.6ms" : "220ms"
    parallel = 0.99
  }
}

workload "training" {
  submit { job = job.resnet32 }
}

hardware "cloud" {
  engine  = "recorded"
  runs    = "data/${each.servers}"
  threads = { "1-k80" = 1, "2-k80" = 2, "4-k80" = 4, "4-k80-spot" = 4, "1-p100-spot" = 1 }[each.servers]
  steps   = 64000

  # One of the spot runs ends early: its first worker, the chief, was revoked.
  unfinished = "skip"

  # A worker alone trains without a parameter server.
  workers                = { "1-k80" = 1, "2-k80" = 2, "4-k80" = 4, "4-k80-spot" = 4, "1-p100-spot" = 1 }[each.servers]
  worker_price           = { "1-k80" = 0.722988, "2-k80" = 0.722988, "4-k80" = 0.722988, "4-k80-spot" = 0.2556, "1-p100-spot" = 0.551 }[each.servers]
  parameter_servers      = { "1-k80" = 0, "2-k80" = 1, "4-k80" = 1, "4-k80-spot" = 1, "1-p100-spot" = 0 }[each.servers]
  parameter_server_price = 0.14292
}

policy "fcfs" { order = "fcfs" }

matrix {
  servers = ["1-k80", "2-k80", "4-k80", "4-k80-spot", "1-p100-spot"]
}

compare "makespan" { baseline = { servers = "1-k80" } }
compare "cost_usd" { baseline = { servers = "1-k80" } }
compare "final_accuracy" { baseline = { servers = "1-k80" } }
