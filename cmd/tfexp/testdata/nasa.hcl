experiment "nasa" {
  description = "Arrivals twice as fast, cut to seconds, as the expected starts were computed"
  replicates  = 1
}

variable "data" {
  type        = string
  description = "The folder of the real logs"
}

workload "nasa" {
  trace {
    file        = "${var.data}/swf_nasa/NASA-iPSC-1993-3.1-cln.swf.gz"
    time_scale  = 0.5
    resolution  = "1s"
    min_runtime = "1s"
  }
}

hardware "ipsc" {
  engine  = "simulated"
  threads = 128
}

policy "fcfs" { order = "fcfs" }

policy "sjf" { order = "sjf" }

plot "jct" {}
