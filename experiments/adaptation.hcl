# When to deepen a network that trains under a time budget: agents that have
# learned it, alone, from other scenarios or by a curriculum, against heuristics,
# constant answers and searches with few runs. The table has one real training for
# each of the 64 sequences of three decisions, in three scenarios in which a job
# gets more cores early, in the middle or late (papers/adaptation/README.md).
#
#   tfexp run experiments/adaptation.hcl
#
# takes two to three minutes on two cores, nearly all of it to train 70 agents. What
# comes of it is in papers/adaptation/README.md.

experiment "adaptation" {
  description = "When should a network be deepened under a time budget: do agents decide better than heuristics and constant answers?"
  seed        = 1
}

adaptation "cnn" {
  table     = "papers/adaptation/cnn1.csv"
  decisions = 3
  seeds     = 5

  # Learns on the scenario that it decides in.
  controller "agent" {
    name = "alone"
  }

  # Decides in a scenario that it has never seen: it learns on the other two, by what
  # their sequences are expected to come to.
  controller "agent" {
    name      = "unseen"
    leave_out = true
  }

  # The same, but it learns by the accuracies of single trainings, with their noise.
  controller "agent" {
    name      = "unseen_noisy"
    leave_out = true
    smooth    = false
  }

  # The agent that has never seen the scenario, but it trains a few networks there: by
  # the sequence that it would take, then by those that promise to improve most. It takes
  # the best of them.
  controller "agent" {
    name      = "unseen_three_runs"
    leave_out = true
    runs      = 3
  }

  controller "agent" {
    name      = "unseen_five_runs"
    leave_out = true
    runs      = 5
  }

  # The same, then 10,000 episodes on the scenario that it decides in.
  controller "agent" {
    name          = "transferred"
    transfer_from = "unseen"
  }

  controller "agent" {
    name       = "curriculum"
    curriculum = ["early", "late", "middle"]
  }

  controller "few_runs" {
    runs = 15
  }

  controller "best_constant" {}
  controller "best_elsewhere" {}
  controller "best_predicted" {}

  controller "best_elsewhere" {
    name = "elsewhere_five_runs"
    runs = 5
  }

  controller "best_predicted" {
    name = "predicted_three_runs"
    runs = 3
  }

  controller "greedy" {}
  controller "nothing" {}
  controller "random" {}
}
