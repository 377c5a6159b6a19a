# The best settings of a training program of your own, in few trials.
#
#   tfexp run FILE
#
# trial.py stands for your program: it takes its settings as arguments, and prints its accuracy after each epoch. Each
# trial is one run of it; a model of the trials so far chooses the next settings.

experiment "tune" {
  description = "Which learning rate and batch size of my program give the best accuracy?"
  seed        = 1
  replicates  = 1 # of the whole search
}

job "train" {
  command = ["python3", "trial.py", "--lr", each.lr, "--batch", each.batch]
  files   = ["trial.py"] # when it changes, its trials run again
  epochs  = 6
}

hardware "this_machine" {
  engine  = "process"
  threads = 1
}

tune "train" {
  job       = job.train
  objective = "accuracy" # or loss, time, time_to_accuracy with a target, cost, throughput
  trials    = 12

  setting "lr" {
    min = 0.001
    max = 3
    log = true
  }
  setting "batch" { values = [4, 16, 64] }

  # Trials that take longer do not count.
  constraint "time" { max = 60 }
}
