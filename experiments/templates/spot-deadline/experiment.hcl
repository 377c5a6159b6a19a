# Spot or on demand: the cheapest way to finish a training before its deadline, simulated.
#
#   tfexp run FILE
#
# spot.csv stands for your zone: eight windows of three days, in ticks of ten minutes, in which a spot server could be had
# (1) or not (0). Who misses the deadline is not ranked among those who keep it.

experiment "spot_deadline" {
  description = "Which strategy finishes my training before its deadline for the least money?"
  seed        = 1
  replicates  = 8 # each plays another window of spot.csv
  currency    = "USD"
}

job "train" {
  command  = ["python3", "train.py"] # not run: its run time is given
  epochs   = 20
  threads  = 1
  gpus     = 1
  deadline = "${each.deadline_h}h" # after it was submitted
  runtime { epoch = "1h" }
  checkpoint {
    every   = "30m" # what a lost server costs at most
    cost    = "1m"
    restore = "2m"
  }
}

workload "one" {
  submit { job = job.train }
}

hardware "cloud" {
  engine = "simulated"
  overheads { start = "5m" } # until a new server trains
  billing { unit = "1m" }

  node "spot" {
    threads  = 1
    gpus     = 1
    market   = "spot"
    price    = 0.9 # an hour
    acquire  = "on_request"
    lifetime = availability("spot.csv", {}, { window = "trace", step = "10m" })
  }
  node "on_demand" {
    threads = 1
    gpus    = 1
    market  = "on_demand"
    price   = 3
    acquire = "on_request"
  }
}

# Spot servers alone: cheap, and as late as they are scarce.
policy "spot_only" {
  order        = "fcfs"
  provisioning = "spot"
}

policy "on_demand" {
  order        = "fcfs"
  provisioning = "on_demand"
}

# Waits for spot servers as long as the deadline allows.
policy "greedy" {
  order        = "fcfs"
  provisioning = "greedy"
}

# Keeps up with a steady pace, and goes on demand where spot servers let it fall behind.
policy "uniform_progress" {
  order        = "fcfs"
  provisioning = "uniform_progress"
}

# Chooses by the spells with and without spot servers that it has seen.
policy "patient" {
  order        = "fcfs"
  provisioning = "patient"
}

matrix { deadline_h = [24, 30] }

compare "cost_usd" { baseline = policy.on_demand }
