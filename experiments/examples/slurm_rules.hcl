# The rules of a Slurm cluster: accounts with shares and limits, qualities of service, partitions, reservations, node
# sets, and a queue that is looked at periodically. "tfexp init --from slurm.conf" writes such a file for a cluster of
# yours.
experiment "slurm_rules" {
  description = "Do the limits of a cluster or its backfill keep short jobs waiting?"
  replicates  = 3
  until       = "72h"
}

job "train" {
  command = ["train"]
  epochs  = 1
  threads = 8
  limit   = "4h"
  runtime { epoch = exponential("2h") }
  submission {
    account   = "physics"
    qos       = "normal"
    nice      = 10
    features  = ["fast"]
    min_nodes = 1
    max_nodes = 2
  }
}

job "urgent" {
  command = ["train"]
  epochs  = 1
  threads = 4
  limit   = "30m"
  runtime { epoch = exponential("10m") }
  submission {
    account = "biology"
    qos     = "high"
    after   = ["train-1"]
  }
}

job "course" {
  command = ["train"]
  epochs  = 1
  threads = 2
  limit   = "20m"
  runtime { epoch = "15m" }
  submission {
    account     = "biology"
    reservation = "lecture"
    exclusive   = true
    requeue     = false
  }
}

workload "week" {
  submit {
    job          = job.train
    count        = 60
    interarrival = exponential("6m")
    user         = "ada"
  }
  submit {
    job          = job.urgent
    count        = 24
    interarrival = exponential("12m")
    user         = "grace"
  }
  submit {
    job   = job.course
    count = 2
    start = "4h"
    user  = "grace"
  }
}

hardware "cluster" {
  engine = "simulated"
  node "n" {
    count   = 4
    threads = 16
    gpus    = 2
    memory  = "64GiB"
  }
}

policy "as_configured" {
  order                    = "multifactor"
  backfill                 = "periodic"
  weight_age               = 1000
  weight_fair_share        = 10000
  weight_partition         = 100
  weight_qos               = 2000
  weight_size              = 100
  weight_association       = 50
  weights_resources        = { cpu = "100" }
  max_age                  = "168h"
  half_life                = "336h"
  favor_small              = true
  fair_tree                = true
  recalculate              = "5m"
  queue_depth              = 50
  queue_interval           = "20s"
  submit_delay             = "1s"
  backfill_interval        = "30s"
  backfill_window          = "48h"
  backfill_resolution      = "1m"
  backfill_depth           = 200
  backfill_depth_partition = 100
  backfill_depth_user      = 20
  backfill_starts          = 50
  backfill_grouping        = "30s"
  preemption_by            = "qos"
  preempt_mode             = "requeue"
  preempt_again            = "40s"
  requeue_delay            = "1m"
  over_limit               = "5m"
  release                  = "1s"
  release_stopped          = "2s"
  whole_seconds            = true
  phase                    = "10s"
  clock                    = "8h"
  least_loaded             = true
  limits_block             = true
  look_at_ends             = false

  account "science" { shares = 1 }
  account "physics" {
    parent      = "science"
    shares      = 60
    default_qos = "normal"
    group_cores = 48
    group_nodes = 3
    group_gpus  = 8
    user "ada" {
      max_jobs   = 4
      max_submit = 50
    }
  }
  account "biology" {
    parent             = "science"
    shares             = 40
    group_jobs         = 10
    group_submit       = 60
    max_cores          = 32
    max_nodes          = 2
    max_cores_per_user = 40
    max_wall           = "24h"
  }
  qos "normal" { usage_factor = 1 }
  qos "high" {
    priority = 100
    preempts = ["normal"]
    grace    = "1m"
    exempt   = "10m"
  }
  partition "main" {
    nodes        = ["n-[1-4]"]
    tier         = 1
    factor       = 10
    max_time     = "24h"
    default_time = "1h"
    default      = true
  }
  partition "whole" {
    nodes     = ["n-4"]
    exclusive = true
  }
  node_set "fast" {
    names    = ["n-[1-4]"]
    weight   = 10
    features = ["fast"]
  }
  reservation "lecture" {
    nodes = ["n-4"]
    from  = "4h"
    until = "6h"
  }
}

# The same queue looked at where the log of a controller says so, with fair shares by usage alone.
policy "as_logged" {
  order              = "multifactor"
  backfill           = "periodic"
  weight_fair_share  = 10000
  fair_share_damping = 2
  charge             = "updates"
  instants           = [for n in range(1, 1000) : "${n % 3 == 0 ? "backfill" : "all"} ${5 * n}m"]
  releases           = { "train-1" = "80ms", "train-2" = "1.2s" }
  account "physics" { shares = 60 }
  account "biology" { shares = 40 }
  qos "normal" {}
  qos "high" {}
  node_set "fast" {
    names    = ["n-[1-4]"]
    features = ["fast"]
  }
  partition "main" { nodes = ["n-[1-4]"] }
  reservation "lecture" {
    nodes = ["n-4"]
    from  = "4h"
    until = "6h"
  }
  reservation "failure" {
    nodes  = ["n-1"]
    from   = "5h"
    until  = "5h30m"
    sudden = true
  }
}

policy "easy" {
  order    = "fcfs"
  backfill = "easy"
}

compare "mean_waiting" { baseline = policy.easy }
