experiment "policy_blocks" { replicates = 1 }
job "a" {
  command = ["true"]
  epochs = 1
  runtime { epoch = "5s" }
  submission {
    after = ["b-1"]
  }
}
job "b" {
  command = ["true"]
  epochs = 1
  runtime { epoch = "5s" }
  submission {
    after = ["a-2", "c-1"]
  }
}
workload "w" {
  submit {
    job = job.a
    count = 2
  }
  submit {
    job = job.b
    count = 1
  }
}
hardware "cluster" {
  engine = "simulated"
  node "n" {
    count = 4
    threads = 4
  }
}
policy "ok" {
  order = "multifactor"
  backfill = "periodic"
}
policy "p" {
  order = "multifactor"
  backfill = "periodic"
  partition "main" {
    nodes = ["n-[1-5]"]
    default = true
  }
  partition "two" {
    default = true
    default_time = "2h"
    max_time = "1h"
  }
  partition "three" {
    qos = "nobody"
  }
  account "x" { parent = "y" }
  account "y" { parent = "x" }
  account "z" { parent = "nowhere" }
  node_set "first" { names = ["n-[1-2]"] }
  node_set "second" { names = ["n-2"] }
  qos "high" { preempts = ["low"] }
}
