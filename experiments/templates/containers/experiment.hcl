# Jobs in containers, bound to cores by Docker.
#
#   tfexp doctor       says whether there is a daemon
#   tfexp run FILE     fetches the image if it is not there
#
# The command stands for your program, the image for the one that has it: it is started with the number of epochs in
# TFEXP_EPOCHS.

experiment "containers" {
  description = "Do short jobs in containers wait less when they take turns with long ones?"
  seed        = 1 # the same seed gives the same arrivals
  replicates  = 3 # each cell runs this often; comparisons need at least 3
}

job "long" {
  image   = "busybox:latest"
  command = ["sh", "-c", "for e in $(seq $TFEXP_EPOCHS); do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done"]
  epochs  = 40
  memory  = "64MiB"
}

job "short" {
  image   = "busybox:latest"
  command = ["sh", "-c", "for e in $(seq $TFEXP_EPOCHS); do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done"]
  epochs  = 10
  memory  = "64MiB"
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 3
    interarrival = exponential("200ms")
  }
}

hardware "docker" {
  engine  = "docker"
  threads = 1
}

policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = "500ms"
}

compare "mean_waiting" {
  baseline = policy.fcfs
  metrics  = ["mean_jct"]
}
