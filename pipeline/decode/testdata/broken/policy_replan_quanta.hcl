experiment "broken" {}

job "a" {
  threads = 2
  epochs  = 5
  builtin "softmax" {}
  runtime { epoch = "10s" }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "queues" {
  order  = "mlfq"
  quanta = ["8s", "soon"]
}

policy "easy" {
  order    = "srsf"
  backfill = "easy"
  replan   = true
}

policy "turns" {
  order      = "priority_round_robin"
  preemption = "pause"
  quantum    = "1s"
  replan     = true
}

policy "unread" {
  order  = "fcfs"
  replan = true
}

policy "divided" {
  order      = "srtf"
  preemption = "pause"
  nodes      = "any"
  replan     = true
}

matrix {
  workload = [workload.w]
  policy   = [policy.queues, policy.easy, policy.turns, policy.unread, policy.divided]
}
