# Training on transient servers: one, two, four and eight servers, on demand or spot, with K80, P100 or V100; of mixed
# types; in two regions; with one or two parameter servers. Hours, accuracy, dollars and revocations of each, simulated, and
# beside them recorded runs and the numbers of the paper ("Speeding up Deep Learning with Transient Servers", ICAC 2019).
#
#   tfexp run experiments/papers/transient/transient.hcl
#
# takes a few seconds. Each run is 64,000 steps of ResNet-32. The speed of clusters is fitted to the durations that the paper
# gives (durations.csv), lives of spot servers are drawn from the survival curves of its measured ones (lives_*.csv), and
# recorded runs are those of recorded_runs. Data and licence: README.md.
#
# As in the paper, a revoked worker is not replaced and the others go on. The server of the chief is, and training goes on
# from the last checkpoint. Writing checkpoints is in the durations that the speed was fitted to, and costs nothing beside.

variable "far" {
  type        = number
  default     = 0.8
  description = "The speed of a worker whose parameter server is in another region, relative to one beside it. The records do not have it: an assumption"
}

experiment "transient" {
  description = "What do more servers, spot servers, faster GPUs and a second parameter server change in hours, accuracy, dollars and revocations?"
  seed        = 3
  replicates  = 10
}

locals {
  # US dollars an hour. On demand, the P100 and the V100 are the list prices of the GPU in 2019 (1.46 and 2.48) and the host
  # of the K80; the others are of the records.
  price = {
    on_demand = { K80 = 0.722988, P100 = 1.732988, V100 = 2.752988 }
    spot      = { K80 = 0.2556, P100 = 0.551, V100 = 0.861 }
  }
  server_price = 0.14292

  # Means of the recorded runs by their number of workers; eight and mixed ones were not recorded, and have the four's.
  accuracy = { "1" = 0.9307, "2" = 0.9190, "4" = 0.9120, "8" = 0.9120 }
}

job "resnet32" {
  command = ["train", "resnet32"]
  steps   = 64000
  role "chief" {
    count = 1
    gpus  = 1
  }
  runtime {
    final_accuracy = local.accuracy["1"]
    cluster { file = "durations.csv" }
  }
  checkpoint {
    every   = "4000"
    restore = "5s"
  }
}

job "distributed" {
  command = ["train", "resnet32"]
  steps   = 64000
  role "chief" {
    count = 1
    gpus  = 1
  }
  role "worker" {
    count   = each.workers - 1
    gpus    = 1
    elastic = true
  }
  role "ps" {
    count = each.ps
  }
  runtime {
    final_accuracy = local.accuracy[each.workers]
    cluster {
      file    = "durations.csv"
      regions = { "us-east1 us-west1" = var.far }
    }
  }
  checkpoint {
    every   = "4000"
    restore = "5s"
  }
}

# The recorded runs. They are simulated beside by the step that the law gives for the same clusters above, without
# revocations: the section on fidelity of the report compares both.
job "recorded" {
  command = ["train", "resnet32"]
  steps   = 64000
  threads = { "1-k80" = 1, "2-k80" = 2, "4-k80" = 4, "4-k80-spot" = 4, "1-p100-spot" = 1 }[each.servers]
  runtime {
    epoch          = { "1-k80" = "217.2ms", "2-k80" = "109ms", "4-k80" = "55.3ms", "4-k80-spot" = "55.3ms", "1-p100-spot" = "85.5ms" }[each.servers]
    parallel       = 0
    final_accuracy = local.accuracy[{ "1-k80" = "1", "2-k80" = "2", "4-k80" = "4", "4-k80-spot" = "4", "1-p100-spot" = "1" }[each.servers]]
  }
}

workload "alone" {
  submit { job = job.resnet32 }
}

workload "cluster" {
  submit { job = job.distributed }
}

workload "records" {
  submit { job = job.recorded }
}

# One server, which has no parameter server.
hardware "one" {
  engine = "simulated"
  node "chief" {
    threads  = 1
    gpus     = 1
    gpu      = each.gpu
    market   = each.market
    price    = local.price[each.market][each.gpu]
    lifetime = each.market == "spot" ? survival("lives_${each.gpu}.csv") : null
  }
  billing { startup = false }
}

hardware "servers" {
  engine = "simulated"
  node "chief" {
    threads  = 1
    gpus     = 1
    gpu      = each.gpu
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market][each.gpu]
    lifetime = each.market == "spot" ? survival("lives_${each.gpu}.csv") : null
  }
  node "worker" {
    count    = each.workers - 1
    threads  = 1
    gpus     = 1
    gpu      = each.gpu
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market][each.gpu]
    lifetime = each.market == "spot" ? survival("lives_${each.gpu}.csv") : null
    replace  = "never"
  }
  node "ps" {
    count   = each.ps
    threads = 1
    region  = "us-east1"
    price   = local.server_price
  }
  billing { startup = false }
}

# Four servers of three types.
hardware "mixed" {
  engine = "simulated"
  node "v100" {
    threads  = 1
    gpus     = 1
    gpu      = "V100"
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market]["V100"]
    lifetime = each.market == "spot" ? survival("lives_V100.csv") : null
  }
  node "p100" {
    threads  = 1
    gpus     = 1
    gpu      = "P100"
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market]["P100"]
    lifetime = each.market == "spot" ? survival("lives_P100.csv") : null
    replace  = "never"
  }
  node "k80" {
    count    = 2
    threads  = 1
    gpus     = 1
    gpu      = "K80"
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market]["K80"]
    lifetime = each.market == "spot" ? survival("lives_K80.csv") : null
    replace  = "never"
  }
  node "ps" {
    count   = each.ps
    threads = 1
    region  = "us-east1"
    price   = local.server_price
  }
  billing { startup = false }
}

# Four K80, two of them in another region than the parameter servers.
hardware "regions" {
  engine = "simulated"
  node "chief" {
    threads  = 1
    gpus     = 1
    gpu      = "K80"
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market]["K80"]
    lifetime = each.market == "spot" ? survival("lives_K80.csv") : null
  }
  node "near" {
    threads  = 1
    gpus     = 1
    gpu      = "K80"
    region   = "us-east1"
    market   = each.market
    price    = local.price[each.market]["K80"]
    lifetime = each.market == "spot" ? survival("lives_K80.csv") : null
    replace  = "never"
  }
  node "far" {
    count    = 2
    threads  = 1
    gpus     = 1
    gpu      = "K80"
    region   = "us-west1"
    market   = each.market
    price    = local.price[each.market]["K80"]
    lifetime = each.market == "spot" ? survival("lives_K80.csv") : null
    replace  = "never"
  }
  node "ps" {
    count   = each.ps
    threads = 1
    region  = "us-east1"
    price   = local.server_price
  }
  billing { startup = false }
}

hardware "recorded" {
  engine     = "recorded"
  runs       = "../recorded_runs/data/${each.servers}"
  threads    = { "1-k80" = 1, "2-k80" = 2, "4-k80" = 4, "4-k80-spot" = 4, "1-p100-spot" = 1 }[each.servers]
  steps      = 64000
  unfinished = "skip"

  workers                = { "1-k80" = 1, "2-k80" = 2, "4-k80" = 4, "4-k80-spot" = 4, "1-p100-spot" = 1 }[each.servers]
  worker_price           = { "1-k80" = 0.722988, "2-k80" = 0.722988, "4-k80" = 0.722988, "4-k80-spot" = 0.2556, "1-p100-spot" = 0.551 }[each.servers]
  parameter_servers      = { "1-k80" = 0, "2-k80" = 1, "4-k80" = 1, "4-k80-spot" = 1, "1-p100-spot" = 0 }[each.servers]
  parameter_server_price = local.server_price
}

policy "fcfs" { order = "fcfs" }

matrix {
  gpu     = ["K80", "P100", "V100"]
  market  = ["on_demand", "spot"]
  workers = [2, 4, 8]
  ps      = [1, 2]
  servers = ["1-k80", "2-k80", "4-k80", "4-k80-spot", "1-p100-spot"]
  exclude { when = (workload.name == "alone") != (hardware.name == "one") }
  exclude { when = (workload.name == "records") != (hardware.name == "recorded") }
  exclude { when = contains(["mixed", "regions"], hardware.name) && each.workers != 4 }
}

compare "makespan" { baseline = { market = "on_demand" } }
compare "cost_usd" { baseline = { market = "on_demand" } }
compare "cost_usd" { baseline = { servers = "4-k80" } }
compare "final_accuracy" { baseline = { servers = "1-k80" } }

reference "paper_durations" {
  file = "paper_durations.csv"
  doc  = "Durations of 64,000 steps on demand; the law of cluster speeds is fitted to all of the paper's, these among them."
}

reference "recorded_runs" {
  file = "paper_runs.csv"
  doc  = "Means of the authors' own tables of all recorded runs; of each configuration ten are replayed, and as many simulated."
}
