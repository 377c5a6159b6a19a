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

// node is a node in the first message.
type node struct {
	Name   string `json:"name"`
	Cores  int    `json:"cores"`
	GPUs   int    `json:"gpus"`
	GPU    string `json:"gpu,omitempty"`
	Memory int64  `json:"memory,omitempty"`
	Rack   string `json:"rack,omitempty"`
	// Up is false for a server that comes and goes: an event announces it.
	Up bool `json:"up"`
}

// capabilities are the capabilities of the engine.
type capabilities struct {
	Pause   bool `json:"pause"`
	Resize  bool `json:"resize"`
	Migrate bool `json:"migrate"`
	Memory  bool `json:"memory"`
	GPUs    bool `json:"gpus"`
}

// hello is the first message.
func (d *desk) hello(t *stages.Task) ([]byte, error) {
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
		Type: "hello", Protocol: Version, Cell: d.cell.Cell, Policy: d.cell.Policy, Workload: d.cell.Workload,
		Hardware: d.cell.Hardware, Replicate: d.cell.Replicate, Seed: d.cell.Seed, Real: d.cell.Real(), Jobs: len(d.run.Jobs),
		Settings: map[string]string{}, Capabilities: capabilities(struct{ Pause, Resize, Migrate, Memory, GPUs bool }{
			d.can.Pause, d.can.Resize, d.can.Migrate, d.can.Memory, d.can.GPUs}),
	}
	for _, s := range of(t.Policy.Settings).Settings {
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
	if m.State, err = stateBefore(t); err != nil {
		return nil, fmt.Errorf("policy %q: %w", d.cell.Policy, err)
	}
	return json.Marshal(m)
}

// begin begins the next message, unless it has begun.
func (d *desk) begin() {
	if len(d.line) == 0 {
		d.line = append(d.line, `{"type":"events","events":[`...)
	}
}

// event begins an event of a kind in the next message.
func (d *desk) event(kind string, at time.Duration) {
	d.begin()
	d.idle.changed = d.idle.changed || kind != timerEvent
	if d.line[len(d.line)-1] == '}' {
		d.line = append(d.line, ',')
	}
	d.line = append(d.line, `{"event":"`...)
	d.line = append(append(d.line, kind...), `","at_ns":`...)
	d.line = appendInt(d.line, int64(at))
}

// of begins an event about a job.
func (d *desk) of(kind string, e *scheduler.Event) {
	d.event(kind, e.At)
	d.text("job", d.run.Jobs[e.Job].Name)
}

func (d *desk) text(name, value string) {
	d.line = append(append(append(d.line, `,"`...), name...), `":`...)
	d.line = appendText(d.line, value)
}

func (d *desk) whole(name string, n int64) {
	d.line = append(append(append(d.line, `,"`...), name...), `":`...)
	d.line = appendInt(d.line, n)
}

// some adds a number that is not 0.
func (d *desk) some(name string, n int64) {
	if n != 0 {
		d.whole(name, n)
	}
}

// hear receives each event of the run.
func (d *desk) hear(e *scheduler.Event) {
	switch e.Kind {
	case scheduler.Arrive:
		d.of("arrive", e)
		d.describe(&d.run.Jobs[e.Job])
	case scheduler.Start, scheduler.Resume:
		d.of("start", e)
		d.holds(e)
		if as := d.run.Jobs[e.Job].Alternatives(); len(as) > 0 {
			d.text("alternative", as[e.Alternative].Name)
		}
	case scheduler.Pause:
		d.of("pause", e)
	case scheduler.ResizeJob:
		d.of("resize", e)
		d.holds(e)
	case scheduler.Request:
		d.of("request", e)
		d.whole("cores", int64(e.Request))
	case scheduler.Predict:
		d.of("progress", e)
		d.whole("done", int64(e.Prediction.Done))
		d.whole("total", int64(e.Prediction.Total))
		if e.Prediction.Left != scheduler.Never {
			d.whole("left_ns", int64(e.Prediction.Left))
		}
	case scheduler.Finish, scheduler.Fail, scheduler.Stop:
		d.of("end", e)
		d.text("state", map[scheduler.EventKind]string{
			scheduler.Finish: "finished", scheduler.Fail: "failed", scheduler.Stop: "stopped"}[e.Kind])
		if e.Reason != "" {
			d.text("reason", e.Reason)
		}
	case scheduler.Retry, scheduler.Revoke, scheduler.Move, scheduler.Profiled, scheduler.Reconfigure:
		d.of("again", e)
		d.text("reason", e.Kind.String())
		d.some("cores", int64(e.Request))
	case scheduler.NodeStart, scheduler.NodeWarning, scheduler.NodeEnd:
		d.event(e.Kind.String(), e.At)
		d.whole("node", int64(e.Node))
		d.some("until_ns", int64(e.Until))
	default:
		return
	}
	d.line = append(d.line, '}')
}

// message is a message with the events up to now.
func (d *desk) message(now time.Duration) []byte {
	d.wakes = scheduler.Never
	d.begin()
	message := append(appendInt(append(d.line, `],"now_ns":`...), int64(now)), '}')
	d.line = message[:0]
	return message
}

// bye is the last message, and left takes its answer.
func (d *desk) bye() []byte { return []byte(`{"type":"end"}`) }

func (d *desk) left(answer []byte) error {
	var bye struct {
		Type  string          `json:"type"`
		State json.RawMessage `json:"state"`
	}
	err := unpack(answer, &bye)
	d.state = bye.State
	return err
}

// holds adds the resources that a job holds from now on.
func (d *desk) holds(e *scheduler.Event) {
	d.whole("cores", int64(e.Cores.Count()))
	d.text("on", e.Cores.String())
	if len(e.GPUs) > 0 {
		d.text("gpus", e.GPUs.String())
	}
}

// describe adds the known properties of a job when it arrives. Values that are 0, or the same for all jobs, are
// left out.
func (d *desk) describe(j *scheduler.Job) {
	d.whole("number", int64(j.Number))
	d.whole("cores", int64(j.Threads))
	if j.Class != "" {
		d.text("class", j.Class)
	}
	if j.User != "" {
		d.text("user", j.User)
	}
	d.some("requested_ns", int64(j.Predicted))
	d.some("gpus", int64(j.GPUs))
	d.some("memory", j.Memory)
	if j.Nodes > 1 {
		d.whole("nodes", int64(j.Nodes))
	}
	d.some("min_cores", int64(j.MinThreads))
	d.some("max_cores", int64(j.MaxThreads))
	if j.Malleable {
		d.line = append(d.line, `,"malleable":true`...)
	}
	if j.Divided {
		d.line = append(d.line, `,"divided":true`...)
	}
	d.some("priority", int64(j.Priority))
	if j.Within() > 0 {
		d.whole("deadline_ns", int64(j.Deadline))
	}
	d.some("weight_ppm", int64(j.Weight()*1e6))
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
	raw, _ := json.Marshal(more) // of numbers and texts
	d.line = append(append(d.line, ','), raw[1:len(raw)-1]...)
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendText appends a JSON text.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			raw, _ := json.Marshal(s)
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
