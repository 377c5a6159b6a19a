experiment "fcfs_vs_rr" {
  description = "Short jobs stuck behind long ones: FCFS against round robin"
  seed        = 7
  replicates  = 5
}

variable "quantum" {
  type    = duration
  default = "1s"
}

job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 60
  threads = 2                      # or { inter = 1, intra = 1 }, min, max
}

job "short" {
  builtin "softmax" {}
  epochs  = 20
  threads = 1
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("400ms")
  }
}

hardware "this_machine" {          # a cluster has node blocks: count, threads, memory, gpus, gpu type
  engine  = "process"
  threads = host.threads
}

policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = each.quantum           # an axis of the matrix
}

matrix {
  workload = [workload.mixed]
  hardware = [hardware.this_machine]
  policy   = [policy.fcfs, policy.rr]
  quantum  = ["500ms", var.quantum]
}

compare "mean_jct" { baseline = policy.fcfs }
