package validate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// trace is a Recorder that keeps the events.
type trace []Event

func (t *trace) Event(e *Event)   { *t = append(*t, *e) }
func (*trace) Decision(*Decision) {}

// job returns a job that arrives at a second and requests a number of cores for some seconds.
func job(level, arrival, cores, seconds int, change func(*Job)) Job {
	j := Job{
		Priority: level, Arrival: time.Duration(arrival) * time.Second, Threads: cores,
		Predicted: time.Duration(seconds) * time.Second, Deadline: Never,
	}
	if change != nil {
		change(&j)
	}
	return j
}

// validCell returns a small run with pauses, a resize and a gang. Tests break its trace in every way that the validator
// must find.
func validCell(t *testing.T) (Run, Outcome, []Event) {
	t.Helper()
	r := Run{
		Policy:  Policy{Order: Priority, Preemption: PausePreemption, Backfill: FirstFit},
		Cluster: Cluster{Nodes: []Node{{Threads: 4, GPUs: 1, Memory: 10}, {Threads: 4, GPUs: 1, Memory: 10}}},
		Jobs: []Job{
			job(2, 0, 4, 4, func(j *Job) { j.Memory = 6 }),
			job(1, 0, 2, 3, func(j *Job) { j.GPUs = 1 }),
			job(0, 1, 4, 2, nil),
			job(1, 2, 2, 3, func(j *Job) { j.Malleable = true }),
			job(1, 3, 4, 1, func(j *Job) { j.Nodes = 2 }),
		},
		Resizes: []Resize{{At: 3 * time.Second, Job: 3, Threads: 1}},
	}
	work := make([]simulated.Scaling, len(r.Jobs))
	for i := range r.Jobs {
		j := &r.Jobs[i]
		j.Number, j.Name = i, string(rune('A'+i))
		work[i] = simulated.FullRequest(j.Predicted, j.Threads)
	}
	engine, err := simulated.New(r.Jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tr trace
	r.Engine, r.Recorder = engine, &tr
	o, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(r.Cluster, r.Jobs, r.Resizes, tr, &o) {
		t.Fatal(v)
	}
	kinds := map[EventKind]int{}
	for _, e := range tr {
		kinds[e.Kind]++
	}
	for _, k := range []EventKind{Pause, Resume, ResizeJob, Request, Finish} {
		if kinds[k] == 0 {
			t.Fatalf("the valid cell has no %s", k)
		}
	}
	return r, o, tr
}

// nth returns the index of the n-th event of a kind, counted from 0.
func nth(events []Event, kind EventKind, n int) int {
	for i, e := range events {
		if e.Kind == kind {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// gang returns the start event of job 4, the gang of the cell.
func gang(events []Event) *Event {
	i := slices.IndexFunc(events, func(e Event) bool { return e.Job == 4 && e.Kind == Start })
	return &events[i]
}

func TestValidatorFindsBrokenTraces(t *testing.T) {
	cases := []struct {
		name string
		harm func(r *Run, o *Outcome, e *[]Event)
		want string
	}{
		{"a core held twice", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Start, 1)].Cores = (*e)[nth(*e, Start, 0)].Cores
		}, "is held by"},
		{"a core that is not there", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Start, 0)].Cores = CoreSet{{Lo: 6, Hi: 10}}
		}, "core 8, but the cluster has only 8"},
		{"a GPU too many", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Start, 1)].GPUs = CoreSet{{Lo: 0, Hi: 1}}
		}, "GPUs instead of"},
		{"over the memory", func(r *Run, o *Outcome, e *[]Event) {
			r.Jobs[0].Memory = 11
		}, "bytes more than its memory"},
		{"a job without an end", func(r *Run, o *Outcome, e *[]Event) {
			*e = slices.Delete(*e, nth(*e, Finish, 4), nth(*e, Finish, 4)+1)
		}, "does not end"},
		{"a job that ends twice", func(r *Run, o *Outcome, e *[]Event) {
			*e = append(*e, (*e)[nth(*e, Finish, 4)])
		}, `which is finished`},
		{"a job that is never mentioned", func(r *Run, o *Outcome, e *[]Event) {
			*e = slices.DeleteFunc(*e, func(x Event) bool { return x.Job == 4 })
		}, "does not end"},
		{"a start before the arrival", func(r *Run, o *Outcome, e *[]Event) {
			i := nth(*e, Arrive, 2)
			(*e)[i], (*e)[i-1] = (*e)[i-1], (*e)[i]
			(*e)[i].Job, (*e)[i].Kind, (*e)[i-1].At = 2, Start, (*e)[i].At
			*e = slices.Delete(*e, i-1, i)
		}, "before its arrival"},
		{"an arrival at another instant", func(r *Run, o *Outcome, e *[]Event) {
			r.Jobs[2].Arrival -= time.Second / 2
		}, "arrives at"},
		{"time goes back", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Finish, 4)].At -= 6 * time.Second
		}, "goes back in time"},
		{"a paused job that holds cores", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Pause, 0)].Cores = CoreSet{{Lo: 0, Hi: 1}}
		}, "holds cores"},
		{"a finished job that holds cores", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Finish, 0)].Cores = CoreSet{{Lo: 0, Hi: 1}}
		}, "holds cores"},
		{"a resume without a pause", func(r *Run, o *Outcome, e *[]Event) {
			*e = slices.Delete(*e, nth(*e, Pause, 0), nth(*e, Pause, 0)+1)
		}, `which is running`},
		{"a resume on another node", func(r *Run, o *Outcome, e *[]Event) {
			x := &(*e)[nth(*e, Resume, 0)]
			x.Cores = CoreSet{{Lo: x.Cores[0].Lo ^ 4, Hi: x.Cores[0].Lo ^ 4 + int32(x.Cores.Count())}}
			x.Migrated = false
		}, "other nodes"},
		{"a migration to the same node", func(r *Run, o *Outcome, e *[]Event) {
			x := &(*e)[slices.IndexFunc(*e, func(x Event) bool { return x.Kind == Resume && x.Job == 0 })]
			x.Cores = CoreSet{{Lo: x.Cores[0].Lo ^ 4, Hi: x.Cores[0].Lo ^ 4 + int32(x.Cores.Count())}}
		}, "migrates to the nodes on which it was"},
		{"a rigid job that is resized", func(r *Run, o *Outcome, e *[]Event) {
			r.Jobs[3].Malleable = false
		}, "the rigid job"},
		{"less than the minimum", func(r *Run, o *Outcome, e *[]Event) {
			r.Jobs[1].MinThreads, r.Jobs[1].Threads = 3, 3
		}, "outside its bounds 3 … 3"},
		{"more than the maximum", func(r *Run, o *Outcome, e *[]Event) {
			r.Jobs[1].Threads = 1
		}, "outside its bounds 1 … 1"},
		{"a gang that is not whole", func(r *Run, o *Outcome, e *[]Event) {
			for i := range *e {
				if x := &(*e)[i]; x.Job == 4 && x.Kind == Start {
					x.Cores = CoreSet{{Lo: 0, Hi: 1}, {Lo: 4, Hi: 7}}
				}
			}
		}, "on node"},
		{"a gang without parts", func(r *Run, o *Outcome, e *[]Event) {
			gang(*e).Layout = nil
		}, "does not have one part"},
		{"a plain job with parts", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Start, 0)].Layout = &cluster.Layout{}
		}, "does not have one part"},
		{"parts on one node", func(r *Run, o *Outcome, e *[]Event) {
			gang(*e).Layout.Parts[1].Node = 0
		}, "is on node 0 of [0 1]"},
		{"a part of another size", func(r *Run, o *Outcome, e *[]Event) {
			gang(*e).Layout.Parts[1].Cores = nil
		}, "unlike part 0"},
		{"a part that is elsewhere", func(r *Run, o *Outcome, e *[]Event) {
			p := gang(*e).Layout.Parts
			p[0].Cores, p[1].Cores = p[1].Cores, p[0].Cores
		}, "not on its node"},
		{"a core of two parts", func(r *Run, o *Outcome, e *[]Event) {
			p := gang(*e).Layout.Parts
			p[1].Cores = p[0].Cores
		}, "belongs to its parts 0 and 1"},
		{"parts that are not the grant", func(r *Run, o *Outcome, e *[]Event) {
			for i := range gang(*e).Layout.Parts {
				p := &gang(*e).Layout.Parts[i]
				p.Cores = CoreSet{{Lo: p.Cores[0].Lo, Hi: p.Cores[0].Lo + 1}}
			}
		}, "do not hold its cores"},
		{"a job over two nodes", func(r *Run, o *Outcome, e *[]Event) {
			(*e)[nth(*e, Start, 1)].Cores = CoreSet{{Lo: 3, Hi: 5}}
		}, "nodes instead of 1"},
		{"another service time", func(r *Run, o *Outcome, e *[]Event) { o.Jobs[1].Service++ }, "the outcome says"},
		{"a pause less", func(r *Run, o *Outcome, e *[]Event) { o.Jobs[0].Preemptions = 0 }, "the outcome says"},
		{"an outcome without a job", func(r *Run, o *Outcome, e *[]Event) { o.Jobs = o.Jobs[1:] }, "instead of 5"},
		{"a job that does not exist", func(r *Run, o *Outcome, e *[]Event) { (*e)[3].Job = 5 }, "does not exist"},
		{"an unknown event", func(r *Run, o *Outcome, e *[]Event) { (*e)[3].Kind = EventKind(99) }, "is unknown"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, o, events := validCell(t)
			r.Jobs = slices.Clone(r.Jobs)
			c.harm(&r, &o, &events)
			found := validate.Trace(r.Cluster, r.Jobs, r.Resizes, events, &o)
			for _, v := range found {
				if strings.Contains(v.Text, c.want) {
					return
				}
			}
			t.Errorf("nothing says %q, but %v", c.want, found)
		})
	}
}

// The validator notices any event that is left out or repeated.
func TestValidatorFindsEveryLostEvent(t *testing.T) {
	r, o, events := validCell(t)
	for i, e := range events {
		if e.Kind == Request || e.Kind == Level { // these change no holdings
			continue
		}
		lost := slices.Delete(slices.Clone(events), i, i+1)
		if len(validate.Trace(r.Cluster, r.Jobs, r.Resizes, lost, &o)) == 0 {
			t.Errorf("event %d (%s of job %d) is not missed", i, e.Kind, e.Job)
		}
		twice := slices.Insert(slices.Clone(events), i, e)
		if len(validate.Trace(r.Cluster, r.Jobs, r.Resizes, twice, &o)) == 0 {
			t.Errorf("event %d (%s of job %d) can happen twice", i, e.Kind, e.Job)
		}
	}
}

func TestValidatorKeepsABoundedNumber(t *testing.T) {
	v := validate.New(Cluster{Nodes: []Node{{Threads: 1}}}, nil, nil)
	for range 10 * validate.MaxViolations {
		v.Event(&Event{Job: 7})
	}
	if len(v.Violations()) != validate.MaxViolations || v.Count() != 10*validate.MaxViolations {
		t.Errorf("%d kept of %d", len(v.Violations()), v.Count())
	}
}

// More attempts than a job's retries allow are a violation.
func TestValidatorCountsRetries(t *testing.T) {
	jobs := []Job{job(0, 0, 1, 2, nil)}
	cores := CoreSet{{Lo: 0, Hi: 1}}
	v := validate.Trace(Cluster{Nodes: []Node{{Threads: 1}}}, jobs, nil, []Event{
		{Kind: Arrive}, {Kind: Start, Cores: cores}, {At: 1, Kind: Retry}, {At: 1, Kind: Start, Cores: cores},
		{At: 2, Kind: Finish},
	}, nil)
	if len(v) != 1 {
		t.Errorf("violations: %v", v)
	}
}

// A server is lost at the time of its warning, and not earlier, unless it is given up.
func TestServersKeepTheirWord(t *testing.T) {
	c := Cluster{Nodes: []Node{{Threads: 1, Supply: cluster.Fixed}}}
	for _, test := range []struct {
		name      string
		elsewhere bool
		end       int // in seconds
		valid     bool
	}{
		{"in time", false, 9, true},
		{"too early", false, 8, false},
		{"too early, as others decided", true, 8, true},
	} {
		v := validate.New(c, nil, nil)
		v.Event(&Event{Kind: NodeRequest, Job: -1, Server: &Server{Elsewhere: test.elsewhere}})
		v.Event(&Event{Kind: NodeStart, Job: -1})
		v.Event(&Event{Kind: NodeWarning, Job: -1, At: 5 * time.Second, Until: 9 * time.Second})
		v.Event(&Event{Kind: NodeEnd, Job: -1, At: time.Duration(test.end) * time.Second, Revoked: true})
		if found := v.Violations(); len(found) == 0 != test.valid {
			t.Errorf("%s: %v", test.name, found)
		}
	}
}
