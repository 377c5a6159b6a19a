# With which settings a training program of your own reaches a loss soonest.
#
#   tfexp run FILE
#
# trial.py stands for your program: it takes its settings as arguments, and prints its loss after each epoch. Each trial
# is one run of it, and counts with the time until its first report of the target; one that never gets there ranks last.

experiment "time_to_loss" {
  description = "Which learning rate and batch size reach a loss of 0.5 soonest?"
  seed        = 1
  replicates  = 1 # of the whole search
}

job "train" {
  command = ["python3", "trial.py", "--lr", each.lr, "--batch", each.batch]
  files   = ["trial.py"] # when it changes, its trials run again
  epochs  = 12
}

hardware "this_machine" {
  engine  = "process"
  threads = 1
}

tune "train" {
  job       = job.train
  objective = "time_to_loss"
  target    = 0.5
  trials    = 12
  budget    = "10m" # no trial begins after this much training

  setting "lr" {
    min = 0.001
    max = 3
    log = true
  }
  setting "batch" { values = [4, 16, 64] }
}
