experiment "forecasts" {
  description = "Starts of jobs on a cluster of 128 cores, forecast by the walltimes that users asked for"
  replicates  = 1
}

variable "log" {
  type        = string
  description = "A table of jobs with their starts and ends"
}

workload "log" {
  trace {
    file   = var.log
    format = "table"
    columns = {
      arrival        = "submission_time"
      start          = "starting_time"
      end            = "finish_time"
      requested_time = "requested_time"
      threads        = "requested_number_of_resources"
      job            = "jobID"
    }
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
