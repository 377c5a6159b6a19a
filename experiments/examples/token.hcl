# A secret for the program of a job: results and messages show (sensitive) in its place.
#
#   TFEXP_VAR_token=… tfexp run FILE

experiment "token" {
  description = "Does a job with a token start sooner if short jobs go first?"
  replicates  = 3
}

variable "token" {
  type        = string
  default     = "" # a program may do without; a default that is a secret is an error
  sensitive   = true
  description = "The token with which the program asks for its data"
}

job "download" {
  command = ["python3", "train.py"]
  env     = { API_TOKEN = var.token }
  epochs  = 4
  runtime { epoch = "30s" }
}

job "local" {
  command = ["python3", "train.py"]
  epochs  = 20
  runtime { epoch = "30s" }
}

workload "mixed" {
  submit {
    job   = job.local
    count = 2
  }
  submit {
    job          = job.download
    count        = 4
    interarrival = exponential("2m")
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 1
}

policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }

compare "mean_jct" { baseline = policy.fcfs }
