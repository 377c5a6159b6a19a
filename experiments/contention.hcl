# Jobs on one machine slow each other down. How much of a policy's advantage is
# left then?
#
#   tfexp run experiments/contention.hcl

experiment "contention" {
  description = "Which allocation of cores is best when neighbors slow each other down?"
  seed        = 5
  replicates  = 5
}

# Measured alone, on four numbers of threads.
job "convolution" {
  command   = ["train", "--model", "convolution"]
  epochs    = 20
  threads   = 8
  malleable = true
  runtime { table = { 1 = "600s", 2 = "330s", 4 = "190s", 8 = "130s" } }
}

job "recurrent" {
  command   = ["train", "--model", "recurrent"]
  epochs    = 20
  threads   = 4
  malleable = true
  runtime {
    startup = "3s"
    epoch   = normal("12s", "2s")
    speedup = usl(0.08, 0.004)
  }
}

workload "mixed" {
  submit {
    job          = job.convolution
    count        = 20
    interarrival = exponential("60s")
  }
  submit {
    job          = job.recurrent
    count        = 20
    interarrival = exponential("60s")
  }
}

# The fewer busy cores the memory serves at full speed, the more jobs wait for
# each other.
hardware "machine" {
  engine  = "simulated"
  threads = 16
  contention {
    capacity  = each.capacity
    sharpness = 3
  }
}

policy "strict" {
  order      = "fcfs"
  allocation = "strict"
}

policy "attend" {
  order      = "fcfs"
  allocation = "always_attend"
}

policy "share" {
  order      = "fcfs"
  allocation = "max_prop"
}

matrix {
  capacity = [0.4, 0.6, 0.8, 1, 2]
}

compare "mean_jct" { baseline = policy.strict }

plot "series" { x = "capacity" }
