package record

import (
	"strconv"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/control"
)

// appendCores appends a set of cores as a JSON string.
func appendCores(b []byte, s scheduler.CoreSet) []byte {
	b = append(b, '"')
	for i, p := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = table.AppendInt(b, int64(p.Lo))
		if p.Hi-p.Lo > 1 {
			b = append(b, '-')
			b = table.AppendInt(b, int64(p.Hi)-1)
		}
	}
	return append(b, '"')
}

// appendEvent appends a line of events.jsonl; see EventRow.
func appendEvent(b []byte, e *scheduler.Event, job *scheduler.Job, nodes []scheduler.Node) []byte {
	b = table.AppendInstant(append(b, `{"t_s":`...), table.ToMicros(e.At))
	b = append(append(b, `,"event":"`...), e.Kind.String()...) // the names of kinds need no escaping
	b = table.AppendText(append(b, `","job":`...), job.Name)
	b = appendCores(append(b, `,"cores":`...), e.Cores)
	if len(e.GPUs) > 0 {
		b = appendCores(append(b, `,"gpus":`...), e.GPUs)
	}
	if e.Beside != nil {
		b = table.AppendText(append(b, `,"beside":`...), e.Beside.Name)
	}
	if e.Layout != nil && len(job.Roles()) > 0 {
		b = appendParts(b, e.Layout, nodes)
	}
	if way := wayOf(e, job); way != "" {
		b = table.AppendText(append(b, `,"resource":`...), way)
	}
	if why := e.Detail(); why != "" {
		b = table.AppendText(append(b, `,"reason":`...), why)
	}
	return append(appendTyped(b, e), '}', '\n')
}

// appendParts appends the parts of a job with roles and their nodes; see PartRow.
func appendParts(b []byte, l *cluster.Layout, nodes []scheduler.Node) []byte {
	b = append(b, `,"parts":[`...)
	for i, p := range l.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = table.AppendText(append(b, `{"part":`...), p.Role+"-"+strconv.Itoa(p.Task))
		b = append(table.AppendText(append(b, `,"node":`...), nodes[p.Node].Name), '}')
	}
	return append(b, ']')
}

// appendNodeEvent appends the line of an event of a node.
func appendNodeEvent(b []byte, e *scheduler.Event, nodes []scheduler.Node) []byte {
	b = table.AppendInstant(append(b, `{"t_s":`...), table.ToMicros(e.At))
	b = append(append(b, `,"event":"`...), e.Kind.String()...)
	b = table.AppendText(append(b, `","node":`...), nodes[e.Node].Name)
	if e.Server != nil {
		b = table.AppendText(append(b, `,"market":`...), e.Server.Market)
		b = table.AppendInstant(append(b, `,"created_s":`...), table.ToMicros(e.Server.Created))
	}
	if e.Kind == scheduler.NodeWarning {
		b = table.AppendInstant(append(b, `,"until_s":`...), table.ToMicros(e.Until))
	}
	if why := e.Detail(); why != "" {
		b = table.AppendText(append(b, `,"reason":`...), why)
	}
	return append(b, '}', '\n')
}

// appendTyped appends the fields that only some kinds of events have.
func appendTyped(b []byte, e *scheduler.Event) []byte {
	switch e.Kind {
	case scheduler.Resume:
		if e.Migrated {
			b = append(b, `,"migrated":true`...)
		}
	case scheduler.Decided:
		if c := e.Control; c != nil {
			b = table.AppendText(append(b, `,"action":`...), c.Action.Name())
			if len(c.Settings) > 0 {
				b = table.AppendText(append(b, `,"settings":`...), control.SettingsText(c.Settings))
			}
		}
	case scheduler.Request, scheduler.Reconfigure:
		b = table.AppendInt(append(b, `,"request":`...), int64(e.Request))
	case scheduler.Level:
		b = table.AppendInt(append(b, `,"levels":{"from":`...), int64(e.Levels.From))
		b = table.AppendInt(append(b, `,"to":`...), int64(e.Levels.To))
		b = append(b, '}')
	case scheduler.Predict:
		if p := e.Prediction; p != nil {
			b = table.AppendInt(append(b, `,"prediction":{"units":`...), int64(p.Done))
			b = table.AppendInt(append(b, `,"of":`...), int64(p.Total))
			b = appendSpan(append(b, `,"left_s":`...), p.Left)
			b = appendSpan(append(b, `,"before_s":`...), p.Before)
			b = append(b, '}')
		}
	}
	return b
}

// appendSpan appends a time in seconds; null when it is unknown.
func appendSpan(b []byte, d time.Duration) []byte {
	if d == scheduler.Never {
		return append(b, "null"...)
	}
	return table.AppendInstant(b, table.ToMicros(d))
}

// appendDecision appends a line of decisions.jsonl; see DecisionRow.
func appendDecision(b []byte, d *scheduler.Decision, jobs *scheduler.JobSet) []byte {
	b = table.AppendInstant(append(b, `{"t_s":`...), table.ToMicros(d.At))
	b = append(append(b, `,"decision":"`...), d.Kind.String()...)
	b = table.AppendText(append(b, `","job":`...), jobs.At(d.Job).Name)
	b = appendCores(append(b, `,"cores":`...), d.Cores)
	b = table.AppendText(append(b, `,"reason":`...), d.Reason)
	for i, p := range d.Passed {
		if i == 0 {
			b = append(b, `,"passed":[`...)
		} else {
			b = append(b, ',')
		}
		b = table.AppendText(append(b, `{"job":`...), jobs.At(p.Job).Name)
		b = table.AppendText(append(b, `,"reason":`...), p.Reason)
		b = append(appendLacks(b, p.Lacks, jobs.At(p.Job)), '}')
	}
	if len(d.Passed) > 0 {
		b = append(b, ']')
	}
	if d.PassedMore != 0 {
		b = table.AppendInt(append(b, `,"passed_more":`...), int64(d.PassedMore))
	}
	return append(b, '}', '\n')
}

// appendLacks appends the lacks of a job; see LackRow.
func appendLacks(b []byte, lacks []cluster.Lack, job *scheduler.Job) []byte {
	for i, x := range lacks {
		if i == 0 {
			b = append(b, `,"lacks":[{`...)
		} else {
			b = append(b, `,{`...)
		}
		if x.Alternative < len(job.Alternatives()) {
			b = append(table.AppendText(append(b, `"resource":`...), job.Alternatives()[x.Alternative].Name), ',')
		}
		b = table.AppendText(append(b, `"what":`...), x.What)
		if x.Where != "" {
			b = table.AppendText(append(b, `,"where":`...), x.Where)
		}
		b = table.AppendInt(append(b, `,"needs":`...), x.Need)
		b = table.AppendInt(append(b, `,"free":`...), x.Free)
		b = append(b, '}')
	}
	if len(lacks) > 0 {
		b = append(b, ']')
	}
	return b
}

// wayOf returns the alternative with which a job starts or resumes; "" for other events, and for jobs without
// alternatives.
func wayOf(e *scheduler.Event, j *scheduler.Job) string {
	if (e.Kind == scheduler.Start || e.Kind == scheduler.Resume) && e.Alternative >= 0 &&
		e.Alternative < len(j.Alternatives()) {
		return j.Alternatives()[e.Alternative].Name
	}
	return ""
}
