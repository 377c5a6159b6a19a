# When to deepen a network that trains under a time budget: agents that have
# learned it, alone, from other scenarios or by a curriculum, against heuristics,
# constant answers and a search with few runs. The table has one real training for
# each of the 64 sequences of three decisions, in three scenarios in which a job
# gets more cores early, in the middle or late (papers/adaptation/README.md).
#
#   tfexp run experiments/adaptation.hcl
#
# takes three to five minutes on two cores, nearly all of them to train agents.

experiment "adaptation" {
  description = "When to deepen a network under a time budget: agents, heuristics and constant answers."
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

  # Decides in a scenario that it has never seen: it learns on the other two.
  controller "agent" {
    name      = "unseen"
    leave_out = true
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
  controller "greedy" {}
  controller "nothing" {}
  controller "random" {}
}
