package external

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages"
)

// node is a node of the cluster in the first message.
type node struct {
	Name   string `json:"name"`
	Cores  int    `json:"cores"`
	GPUs   int    `json:"gpus"`
	GPU    string `json:"gpu,omitempty"`
	Memory int64  `json:"memory,omitempty"`
	Rack   string `json:"rack,omitempty"`
	// Up is false for a server that is not available yet. An event announces it later.
	Up bool `json:"up"`
}

// capabilities are the engine's capabilities in the first message.
type capabilities struct {
	Pause   bool `json:"pause"`
	Resize  bool `json:"resize"`
	Migrate bool `json:"migrate"`
	Memory  bool `json:"memory"`
	GPUs    bool `json:"gpus"`
}

// helloMessage returns the first message.
func (d *programAdmitter) helloMessage(t *stages.Task) ([]byte, error) {
	type set struct {
		Nodes []node `json:"nodes"`
	}
	m := struct {
		Type         string            `json:"type"`
		Protocol     int               `json:"protocol"`
		Cell         string            `json:"cell"`
		Policy       string            `json:"policy"`
		Workload     string            `json:"workload"`
		Hardware     string            `json:"hardware"`
		Replicate    int               `json:"replicate"`
		Seed         int64             `json:"seed"`
		Real         bool              `json:"real"`
		Jobs         int               `json:"jobs"`
		Settings     map[string]string `json:"settings"`
		Capabilities capabilities      `json:"capabilities"`
		Cluster      set               `json:"cluster"`
		State        json.RawMessage   `json:"state,omitempty"`
	}{
		Type: "hello", Protocol: ProtocolVersion, Cell: d.cell.Cell, Policy: d.cell.Policy, Workload: d.cell.Workload,
		Hardware: d.cell.Hardware, Replicate: d.cell.Replicate, Seed: d.cell.Seed, Real: d.cell.Real(), Jobs: len(d.run.Jobs),
		Settings: map[string]string{}, Capabilities: capabilities(struct{ Pause, Resize, Migrate, Memory, GPUs bool }{
			d.can.Pause, d.can.Resize, d.can.Migrate, d.can.Memory, d.can.GPUs}),
	}
	for _, s := range argsOf(t.Policy.Settings).Settings {
		m.Settings[s.Name] = s.Value
	}
	for i, n := range d.run.Cluster.Nodes {
		name := n.Name
		if name == "" {
			name = strconv.Itoa(i)
		}
		m.Cluster.Nodes = append(m.Cluster.Nodes, node{
			Name: name, Cores: n.Threads, GPUs: n.GPUs, GPU: n.GPU, Memory: n.Memory, Rack: n.Rack,
			Up: n.Supply == cluster.Standing,
		})
	}
	var err error
	if m.State, err = previousState(t); err != nil {
		return nil, fmt.Errorf("policy %q: %w", d.cell.Policy, err)
	}
	return json.Marshal(m)
}

// beginMessage begins the next message, if it has not begun.
func (d *programAdmitter) beginMessage() {
	if len(d.line) == 0 {
		d.line = append(d.line, `{"type":"events","events":[`...)
	}
}

// beginEvent begins an event in the next message.
func (d *programAdmitter) beginEvent(kind string, at time.Duration) {
	d.beginMessage()
	d.idle.changed = d.idle.changed || kind != timerEvent
	if d.line[len(d.line)-1] == '}' {
		d.line = append(d.line, ',')
	}
	d.line = append(d.line, `{"event":"`...)
	d.line = append(append(d.line, kind...), `","at_ns":`...)
	d.line = appendInt(d.line, int64(at))
}

// beginJobEvent begins an event about a job.
func (d *programAdmitter) beginJobEvent(kind string, e *scheduler.Event) {
	d.beginEvent(kind, e.At)
	d.addText("job", d.run.Jobs[e.Job].Name)
}

func (d *programAdmitter) addText(name, value string) {
	d.line = append(append(append(d.line, `,"`...), name...), `":`...)
	d.line = appendText(d.line, value)
}

func (d *programAdmitter) addInt(name string, n int64) {
	d.line = append(append(append(d.line, `,"`...), name...), `":`...)
	d.line = appendInt(d.line, n)
}

// addNonZero adds a member with a number, unless the number is 0.
func (d *programAdmitter) addNonZero(name string, n int64) {
	if n != 0 {
		d.addInt(name, n)
	}
}

// addEvent adds an event of the run to the next message.
func (d *programAdmitter) addEvent(e *scheduler.Event) {
	switch e.Kind {
	case scheduler.Arrive:
		d.beginJobEvent("arrive", e)
		d.addJob(&d.run.Jobs[e.Job])
	case scheduler.Start, scheduler.Resume:
		d.beginJobEvent("start", e)
		d.addHeld(e)
		if as := d.run.Jobs[e.Job].Alternatives(); len(as) > 0 {
			d.addText("alternative", as[e.Alternative].Name)
		}
	case scheduler.Pause:
		d.beginJobEvent("pause", e)
	case scheduler.ResizeJob:
		d.beginJobEvent("resize", e)
		d.addHeld(e)
	case scheduler.Request:
		d.beginJobEvent("request", e)
		d.addInt("cores", int64(e.Request))
	case scheduler.Predict:
		d.beginJobEvent("progress", e)
		d.addInt("done", int64(e.Prediction.Done))
		d.addInt("total", int64(e.Prediction.Total))
		if e.Prediction.Left != scheduler.Never {
			d.addInt("left_ns", int64(e.Prediction.Left))
		}
	case scheduler.Finish, scheduler.Fail, scheduler.Stop:
		d.beginJobEvent("end", e)
		d.addText("state", map[scheduler.EventKind]string{
			scheduler.Finish: "finished", scheduler.Fail: "failed", scheduler.Stop: "stopped"}[e.Kind])
		if e.Reason != "" {
			d.addText("reason", e.Reason)
		}
	case scheduler.Retry, scheduler.Revoke, scheduler.Move, scheduler.Profiled, scheduler.Reconfigure:
		d.beginJobEvent("again", e)
		d.addText("reason", e.Kind.String())
		d.addNonZero("cores", int64(e.Request))
	case scheduler.NodeStart, scheduler.NodeWarning, scheduler.NodeEnd:
		d.beginEvent(e.Kind.String(), e.At)
		d.addInt("node", int64(e.Node))
		d.addNonZero("until_ns", int64(e.Until))
	default:
		return
	}
	d.line = append(d.line, '}')
}

// eventsMessage returns a message with the events up to now.
func (d *programAdmitter) eventsMessage(now time.Duration) []byte {
	d.wakes = scheduler.Never
	d.beginMessage()
	message := append(appendInt(append(d.line, `],"now_ns":`...), int64(now)), '}')
	d.line = message[:0]
	return message
}

// endMessage is the last message. readState reads its answer.
func (d *programAdmitter) endMessage() []byte { return []byte(`{"type":"end"}`) }

func (d *programAdmitter) readState(answer []byte) error {
	var bye struct {
		Type  string          `json:"type"`
		State json.RawMessage `json:"state"`
	}
	err := decodeAnswer(answer, &bye)
	d.state = bye.State
	return err
}

// addHeld adds the resources that a job holds from this event on.
func (d *programAdmitter) addHeld(e *scheduler.Event) {
	d.addInt("cores", int64(e.Cores.Count()))
	d.addText("on", e.Cores.String())
	if len(e.GPUs) > 0 {
		d.addText("gpus", e.GPUs.String())
	}
}

// addJob adds the known properties of a job that arrives. It omits values that are 0 or the same for all jobs.
func (d *programAdmitter) addJob(j *scheduler.Job) {
	d.addInt("number", int64(j.Number))
	d.addInt("cores", int64(j.Threads))
	if j.Class != "" {
		d.addText("class", j.Class)
	}
	if j.User != "" {
		d.addText("user", j.User)
	}
	d.addNonZero("requested_ns", int64(j.Predicted))
	d.addNonZero("gpus", int64(j.GPUs))
	d.addNonZero("memory", j.Memory)
	if j.Nodes > 1 {
		d.addInt("nodes", int64(j.Nodes))
	}
	d.addNonZero("min_cores", int64(j.MinThreads))
	d.addNonZero("max_cores", int64(j.MaxThreads))
	if j.Malleable {
		d.line = append(d.line, `,"malleable":true`...)
	}
	if j.Divided {
		d.line = append(d.line, `,"divided":true`...)
	}
	d.addNonZero("priority", int64(j.Priority))
	if j.Within() > 0 {
		d.addInt("deadline_ns", int64(j.Deadline))
	}
	d.addNonZero("weight_ppm", int64(j.Weight()*1e6))
	if len(j.Alternatives()) == 0 && len(j.Roles()) == 0 {
		return
	}
	type alternative struct {
		Name      string `json:"name"`
		Cores     int    `json:"cores"`
		GPUs      int    `json:"gpus,omitempty"`
		GPU       string `json:"gpu,omitempty"`
		Memory    int64  `json:"memory,omitempty"`
		Requested int64  `json:"requested_ns,omitempty"`
	}
	type role struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
		Cores int    `json:"cores"`
		GPUs  int    `json:"gpus,omitempty"`
		GPU   string `json:"gpu,omitempty"`
	}
	var more struct {
		Alternatives []alternative `json:"alternatives,omitempty"`
		Roles        []role        `json:"roles,omitempty"`
	}
	for _, a := range j.Alternatives() {
		more.Alternatives = append(more.Alternatives,
			alternative{a.Name, a.Threads, a.GPUs, a.GPU, a.Memory, int64(a.Predicted)})
	}
	for _, r := range j.Roles() {
		more.Roles = append(more.Roles, role{r.Name, r.Count, r.Threads, r.GPUs, r.GPU})
	}
	raw, _ := json.Marshal(more) // numbers and texts cannot fail
	d.line = append(append(d.line, ','), raw[1:len(raw)-1]...)
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendText appends a text as a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			raw, _ := json.Marshal(s)
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
