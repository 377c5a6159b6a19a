experiment "broken" {}

locals {
  pairs    = setproduct(range(320), range(240))
  text     = join("", [for pair in local.pairs : "0123456789012345678901234567890"])
  nested   = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : c]]]
  compared = [for pair in local.pairs : "${local.text}x" == "y"]
}

job "deep" {
  command = ["train"]
}

workload "w" {
  submit { job = job.deep }
}

hardware "m" {
  engine  = "simulated"
  threads = 16
}

policy "fcfs" { order = "fcfs" }
