experiment "oar" {
  description = "Workloads that ran on a cluster, by the walltimes that users asked for"
  replicates  = 1
}

variable "data" {
  type        = string
  description = "The folder of the real logs"
}

workload "hpc" {
  trace {
    file = "${var.data}/oar_real/example_workload_hpc_seed${each.log}_jobs250.json"
  }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 128
}

policy "easy" {
  order     = "fcfs"
  backfill  = "easy"
  estimates = "requested"
}

policy "fcfs" { order = "fcfs" }

matrix {
  policy = [policy.easy, policy.fcfs]
  log    = [1, 2, 3]
}

plot "jct" {}
