experiment "e" { seed = 1 }
job "a" {
  builtin "softmax" {}
  epochs = 10
  runtime { epoch = "1s" }
}
workload "w" {
  submit {
    job = job.a
  }
}
hardware "h" {
  engine = "simulated"
  threads = 2
}
policy "p" { order = "fcfs" }
variable "v" {
 default = 1
 validation {
 condition = var.b > 0
 error_message = "x"
 }
}
