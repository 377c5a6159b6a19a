package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// TestAppendLines: events and decisions are the lines that encoding/json makes
// of their rows.
func TestAppendLines(t *testing.T) {
	jobs := []scheduler.Job{{Name: "short-1", Special: &scheduler.Special{Alternatives: []scheduler.Alternative{{Name: "cpu"}, {Name: "gpu:V100"}}}},
		{Name: `"ä <b>`}, {Name: "c\u2028\x01\\"}}
	sets := []scheduler.CoreSet{nil, {{Lo: 3, Hi: 4}}, {{Lo: 0, Hi: 4}, {Lo: 7, Hi: 8}, {Lo: 1000, Hi: 1024}}}
	instants := []time.Duration{0, 1, 500, time.Microsecond, 1500 * time.Microsecond, time.Second, 100 * time.Hour,
		1234567891 * time.Microsecond, 1e6 * time.Hour, scheduler.Never}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		instants = append(instants, time.Duration(rng.Int64N(1<<rng.IntN(62)+1)))
	}
	nodes := []scheduler.Node{{Name: "a"}, {Name: "b & c"}}
	jobs[2].Own().Roles = []scheduler.Role{{Name: "worker", Count: 3}, {Name: "ps", Count: 1}}
	lacks := []cluster.Lack{
		{What: "cores", Need: 4, Free: 1}, {Alternative: 1, What: "GPUs", Where: "on one node", Need: 2},
	}
	for i, at := range instants {
		e := scheduler.Event{At: at, Kind: scheduler.Start, Job: i % 3, Cores: sets[i%3], GPUs: sets[i/3%3]}
		if i%4 == 0 {
			e.Reason = jobs[i%3].Name + " & more"
		}
		e.Alternative = i % 2
		switch i % 7 {
		case 1:
			e.Kind, e.Request = scheduler.Request, 1+i%5
		case 2:
			e.Kind, e.Levels = scheduler.Level, scheduler.Levels{From: int32(i % 3), To: int32(i%3) - 1}
		case 3:
			e.Kind, e.Prediction = scheduler.Predict, &scheduler.Prediction{Done: i, Total: 2 * i, Left: at,
				Before: scheduler.Never}
		}
		if i%5 == 0 {
			e.Layout = &cluster.Layout{Parts: []scheduler.Part{{Role: "ps", Node: 1}, {Role: "worker", Task: i % 3}}}
		}
		same(t, appendEvent(nil, &e, &jobs[e.Job], nodes), eventRow(&e, jobs, nodes))
		d := scheduler.Decision{At: at, Kind: scheduler.Resume, Job: i % 3, Cores: e.Cores, Reason: e.Reason,
			PassedMore: i % 2}
		for k := range i % 3 {
			d.Passed = append(d.Passed, scheduler.Passed{Job: k, Reason: "needs 4 cores, 1 are free", Lacks: lacks[:i%3]})
		}
		same(t, appendDecision(nil, &d, &scheduler.JobSet{List: jobs}), decisionRow(&d, jobs))
	}
}

func same(t *testing.T, got []byte, row any) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(row); err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Fatalf("%sinstead of\n%s", got, b.String())
	}
}

func eventRow(e *scheduler.Event, jobs []scheduler.Job, nodes []scheduler.Node) EventRow {
	row := EventRow{
		At: table.ToMicros(e.At).Seconds(), Event: e.Kind, Job: jobs[e.Job].Name,
		Cores: e.Cores, GPUs: e.GPUs, Reason: e.Detail(), Request: e.Request,
		Migrated: e.Migrated,
	}
	if e.Layout != nil && len(jobs[e.Job].Roles()) > 0 {
		for _, p := range e.Layout.Parts {
			row.Parts = append(row.Parts, PartRow{Part: fmt.Sprintf("%s-%d", p.Role, p.Task), Node: nodes[p.Node].Name})
		}
	}
	if e.Kind == scheduler.Level {
		row.Levels = &LevelsRow{From: int(e.Levels.From), To: int(e.Levels.To)}
	}
	if p := e.Prediction; p != nil {
		row.Prediction = &PredictionRow{Done: p.Done, Total: p.Total, Left: span(p.Left), Before: span(p.Before)}
	}
	if ways := jobs[e.Job].Alternatives(); e.Kind == scheduler.Start && len(ways) > 0 {
		row.Resource = ways[e.Alternative].Name
	}
	return row
}

func span(d time.Duration) *float64 {
	if d == scheduler.Never {
		return nil
	}
	s := table.ToMicros(d).Seconds()
	return &s
}

func decisionRow(d *scheduler.Decision, jobs []scheduler.Job) DecisionRow {
	row := DecisionRow{
		At: table.ToMicros(d.At).Seconds(), Decision: d.Kind, Job: jobs[d.Job].Name,
		Cores: d.Cores, Reason: d.Reason, PassedMore: d.PassedMore,
	}
	for _, p := range d.Passed {
		passed := PassedRow{Job: jobs[p.Job].Name, Reason: p.Reason}
		for _, x := range p.Lacks {
			lack := LackRow{What: x.What, Where: x.Where, Need: x.Need, Free: x.Free}
			if x.Alternative < len(jobs[p.Job].Alternatives()) {
				lack.Resource = jobs[p.Job].Alternatives()[x.Alternative].Name
			}
			passed.Lacks = append(passed.Lacks, lack)
		}
		row.Passed = append(row.Passed, passed)
	}
	return row
}
