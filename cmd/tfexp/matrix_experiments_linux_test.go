package main

// The experiments of TestCrashAndResume and TestTorture, all named x. newCrash replaces the words in capital letters.
var experimentsOfMatrix = map[string]string{
	"simulated plain": `
experiment "x" {
  seed       = 3
  replicates = 25
}` + simulatedJobs + `
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "10s"
}
compare "mean_jct" { baseline = policy.fcfs }
plot "jct" {}
`,
	"simulated shards": `
experiment "x" {
  seed       = 3
  replicates = 60
  records    = "metrics"
}` + simulatedJobs + `
policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
compare "mean_jct" { baseline = policy.fcfs }
`,
	"simulated policy": `
experiment "x" {
  seed       = 3
  replicates = 3
}` + simulatedJobs + `
policy "easy" {
  order   = "external"
  command = ["python3", "POLICY"]
  limit   = "10m" # for an answer, on a busy machine
}
policy "fcfs" { order = "fcfs" }
`,
	"simulated search": `
experiment "x" {
  seed       = 3
  replicates = 4
}
job "table" {
  recorded {
    file     = "table.csv"
    settings = { batch = "batch", rate = "rate" }
    time     = row.time
    accuracy = row.accuracy
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
tune "t" {
  job       = job.table
  objective = "time"
  method    = "bo"
  trials    = 12
  setting "batch" { values = [1, 2, 3, 4, 5, 6, 7, 8] }
  setting "rate" { values = [1, 2, 3, 4, 5, 6, 7, 8] }
}
`,
	"simulated deepening": `
experiment "x" { seed = 1 }
adaptation "cnn" {
  table     = "cnn1.csv"
  decisions = 3
  seeds     = 1
  controller "agent" {}
  controller "few_runs" { runs = 15 }
  controller "nothing" {}
}
`,
	"real plain": `
experiment "x" { replicates = 2 }` + realJobs + `
policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
`,
	"real policy": `
experiment "x" { replicates = 2 }` + realJobs + `
policy "easy" {
  order   = "external"
  command = ["python3", "POLICY"]
  limit   = "10m" # for an answer, on a busy machine
}
policy "fcfs" { order = "fcfs" }
`,
	"real search": `
experiment "x" { replicates = 1 }
job "digits" {
  builtin "softmax" {}
  IMAGE
  epochs = 3
}
hardware "h" {
  engine  = "ENGINE"
  threads = THREADS
}
tune "t" {
  job       = job.digits
  objective = "time"
  method    = "grid"
  trials    = 4
  setting "batch" { values = [8, 16, 32, 64] }
}
`,
	// Each stage takes a short time.
	"real torture": `
experiment "x" { replicates = 3 }` + realJobs + `
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "100ms"
}
compare "mean_jct" { baseline = policy.fcfs }
plot "gantt" {}
plot "jct" {}
`,
	"real deepening": `
experiment "x" {}
job "net" {
  builtin "mlp" { hidden = [16, 8] }
  IMAGE
  budget    = "900ms"
  malleable = MALLEABLE
}
hardware "h" {
  engine  = "ENGINE"
  threads = THREADS
}
adaptation "digits" {
  job       = job.net
  hardware  = hardware.h
  decisions = 1
  decide    = ["400ms"]
  scenario "grows" {
    CHANGES
  }
  controller "constant" { sequence = [1] }
  controller "nothing" {}
}
`,
}

const simulatedJobs = `
job "t" {
  command = ["train"]
  threads = 2
  epochs  = 5
  runtime { epoch = exponential("6s") }
}
workload "w" {
  submit {
    job          = job.t
    count        = 300
    interarrival = exponential("8s")
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 8
}`

// realJobs has a job that starts a service, for systems on which tfexp can end the service.
const realJobs = `
job "short" {
  command = ["sh", "-c", "sleep 0.$TFEXP_EPOCHS"]
  IMAGE
  epochs  = 3
}
job "forks" {
  command = ["sh", "-c", "AWAY(sleep 0.2) & sh -c 'sleep 0.$TFEXP_EPOCHS'; wait"]
  IMAGE
  epochs  = 2
}
workload "w" {
  submit {
    job   = job.short
    count = 2
  }
  submit { job = job.forks }
}
hardware "h" {
  engine  = "ENGINE"
  threads = THREADS
}`
