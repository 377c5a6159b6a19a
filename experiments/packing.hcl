# Small training jobs leave much of a GPU idle. Does it pay that two of them share one, when the large
# ones slow down whoever is beside them?
#
#   tfexp run experiments/packing.hcl         a few seconds
#
# Two embeddings keep 90% of their speed beside each other, an embedding 80% beside a transformer,
# which keeps 60%; two transformers do not fit on a GPU together. The policy with packing = true
# divides the time among jobs and pairs of jobs, so that the slowest is as fast as it can be.

experiment "packing" {
  description = "Does it pay that two jobs share a GPU?"
  seed        = 3
  replicates  = 5
  records     = "metrics"
}

job "embedding" {
  command = ["train", "--model", "embedding"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch  = exponential("180s")
    beside = { embedding = 0.9, transformer = 0.8 }
  }
}

job "transformer" {
  command = ["train", "--model", "transformer"]
  epochs  = 10
  gpus    = 1
  runtime {
    epoch  = exponential("540s")
    beside = { embedding = 0.6 }
  }
}

workload "mixed" {
  submit {
    job          = job.embedding
    count        = 20
    interarrival = exponential("5m")
  }
  submit {
    job          = job.transformer
    count        = 10
    interarrival = exponential("10m")
  }
}

hardware "node" {
  engine  = "simulated"
  threads = 8
  gpus    = 4
}

policy "alone" {
  order  = "max_min"
  rounds = "360s"
}

policy "packed" {
  order   = "max_min"
  rounds  = "360s"
  packing = true
}

compare "mean_jct" { baseline = policy.alone }
compare "gpu_utilization" { baseline = policy.alone }
plot "metrics" {}
