# Agents that learn when to deepen a network, with all that can be said of their learning. Few episodes: seconds.
experiment "agents" {
  description = "Does an agent that learned on two scenarios decide as well in the third?"
}

adaptation "cnn" {
  table     = "../papers/adaptation/cnn1.csv"
  decisions = 3
  blocks    = 3

  controller "agent" {
    name        = "elsewhere"
    train_on    = ["early", "late"]
    episodes    = 2000
    temperature = 1.5
  }

  controller "agent" {
    name          = "step_by_step"
    curriculum    = ["early", "middle", "late"]
    episodes      = 2000
    next_episodes = 500
  }

  controller "random" {}
}
