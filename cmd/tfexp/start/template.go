package start

import "text/template"

var logExperiment = template.Must(template.New("experiment").Parse(`# What if, on {{.Log.File}}: {{.Log.Jobs}} jobs in {{.Days}} days.
#
#   tfexp run FILE    replays it under each policy and with each size, and says what that changes
{{range .Doubts}}#
{{range .}}# {{.}}
{{end}}{{end}}
experiment "{{.Name}}" {
  description = "On this log: what does backfilling bring, what do 20% more {{.Unit}}, and for whom?"
  replicates  = 1 # nothing is drawn at random
}

workload "log" {
  trace {
{{- range .Arguments}}
    {{.}}
{{- end}}
  }
}

hardware "cluster" {
{{- with .Log.Cluster}}
{{- if .Cores}}
  engine  = "simulated"
  threads = each.cores
{{- else}}
  engine = "simulated"
  node "n" {
    count   = each.nodes
    threads = {{.Threads}}
{{- if .GPUs}}
    gpus    = {{.GPUs}}
{{- end}}
  }
{{- end}}
{{- end}}
}

policy "fcfs" { order = "fcfs" }

# Later jobs may pass the first one, as long as its start is not delayed.
policy "easy" {
  order     = "fcfs"
  backfill  = "easy"
  estimates = "{{.Estimates}}"
}

matrix {
  {{.Unit}} = [{{.Size}}, {{.More}}]
}

# Each change alone, and both.
compare "mean_waiting" {
  baseline = { policy = policy.fcfs, {{.Unit}} = {{.Size}} }
  metrics  = ["mean_bounded_slowdown"]
}

# Who waits less: small jobs or large ones?
compare "mean_waiting" {
  baseline = policy.fcfs
  by       = "size"
}
{{- if .Long}}

# How much does that depend on which days the log has?
compare "mean_jct" {
  baseline = { policy = policy.fcfs, {{.Unit}} = {{.Size}} }
  block    = "24h"
}
{{- end}}
`))
