package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// rudder is a Reconfigurer for simulated jobs. Its setting "epoch" is the time of one of ten epochs, and "threads" is
// the request. "live" says that a change needs no restart.
type rudder struct {
	*simulated.Engine
	t      *testing.T
	units  []int
	called []string
}

func (r *rudder) Follow(jobs []bool) {
	if err := r.Engine.Attend(jobs, r.units, func(_, units int) control.Progress {
		return control.Progress{Epoch: units, Loss: 1 / float64(units), Accuracy: math.NaN(), Seconds: math.NaN()}
	}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rudder) Adopt(job int, settings []control.Setting, restart bool) (Adopted, error) {
	a := Adopted{Threads: 1, Restart: restart}
	work := simulated.Training(2*time.Second, r.units[job], 10*time.Second, 0)
	for _, s := range settings {
		switch s.Name {
		case "epoch":
			d, err := time.ParseDuration(s.Value)
			if err != nil {
				return a, errors.New("no such time")
			}
			work = simulated.Training(2*time.Second, r.units[job], d, 0)
		case "threads":
			fmt.Sscan(s.Value, &a.Threads)
		}
	}
	r.called = append(r.called, control.SettingsText(settings))
	return a, r.Engine.Change(job, &work)
}

// metered is an engine whose programs begin 1 s after the decision to start them.
type metered struct{ *simulated.Engine }

func (m metered) Used(int) time.Duration { return m.Now() - time.Second }

func (r *rudder) Deepen(job, block int) error { return errors.New("a simulated job has no network") }

// captain is a controller that answers by the number of finished epochs.
type captain struct {
	at   map[int]control.Action
	seen []string
}

func (c *captain) Decide(r control.Report) control.Action {
	c.seen = append(c.seen, fmt.Sprintf("%d %s %d %s", r.Epoch, r.Used, r.Allotment.Threads,
		control.SettingsText(r.Settings)))
	return c.at[r.Epoch]
}

func steered(t *testing.T, jobs []Job, c *captain) (Outcome, []string, *rudder) {
	t.Helper()
	units, work := make([]int, len(jobs)), make([]simulated.Scaling, len(jobs))
	for i := range jobs {
		units[i], work[i] = 10, simulated.Training(2*time.Second, 10, 10*time.Second, 0)
	}
	engine, err := simulated.New(jobs, work, simulated.Options{Overheads: simulated.Overheads{Resize: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	helm := &rudder{Engine: engine, t: t, units: units}
	events := &trace{}
	run := Run{
		Policy: Policy{Order: FCFS}, Cluster: Cluster{Nodes: []Node{{Threads: 4}}}, Jobs: jobs, Engine: engine, Recorder: events,
		Steering: &Steering{Controllers: make([]control.Controller, len(jobs)), Reconfigurer: helm},
	}
	run.Steering.Controllers[0] = c
	o, err := run.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range events.events {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.At, e.Kind, jobs[e.Job].Name, e.Detail())))
	}
	for _, v := range validate.Trace(run.Cluster, jobs, nil, events.events, &o) {
		t.Errorf("%s\n%s", v, strings.Join(lines, "\n"))
	}
	return o, lines, helm
}

// A controller is called when its job arrives and after each epoch. Its decisions apply at once, or after a restart.
func TestControllersDecideWhileJobsRun(t *testing.T) {
	set := func(name, value string, restart bool) control.Action {
		return control.Action{Settings: []control.Setting{{Name: name, Value: value}}, Restart: restart, Reason: "test"}
	}
	deep := 1
	jobs := number([]Job{{Name: "a", Threads: 1, Malleable: true, Deadline: Never},
		{Name: "b", Threads: 1, Arrival: time.Second, Deadline: Never}})
	c := &captain{at: map[int]control.Action{
		0: set("epoch", "20s", false),
		2: set("epoch", "5s", false),
		3: {Reason: "nothing is better"},
		4: set("epoch", "1s", true),
		5: set("threads", "2", false),
		6: {Deepen: &deep},
		7: set("epoch", "soon", false),
		8: {Allotment: &control.Allotment{Threads: 3}},
		9: {Stop: true, Reason: "good enough"},
	}}
	o, lines, _ := steered(t, jobs, c)
	want := []string{
		"0s arrive a", "0s control a settings: epoch=20s (test)", "0s start a", "1s arrive b", "1s start b",
		"42s control a settings: epoch=5s (test)",   // 2 s of start-up and two epochs of 20 s
		"48s control a nothing (nothing is better)", // 1 s for the change
		"53s control a settings: epoch=1s (test)",
		"53s reconfigure a 1 cores", "53s start a",
		"56s control a settings: threads=2 (test)", "56s request a 2 cores", "56s resize a", // restarts, 2 s of start-up
		"59s control a deepen 1: refused: a simulated job has no network",
		"1m0s control a settings: epoch=soon: refused: no such time",
		"1m1s control a allotment", "1m1s request a 3 cores", "1m1s resize a", // 1 s more for each resize
		"1m3s control a stop (good enough)", "1m3s finish a good enough", "1m43s finish b",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the trace is\n%s\nwant\n%s\nasked:\n%s", got, strings.Join(want, "\n"), strings.Join(c.seen, "\n"))
	}
	r := o.Jobs[0]
	if r.State != Finished || r.Reconfigurations != 1 || r.Resizes != 2 || r.Service != 63*time.Second {
		t.Errorf("%+v", r)
	}
	if first := c.seen[0]; first != "0 0s 1 " {
		t.Errorf("the first report is %q", first)
	}
	if last := c.seen[len(c.seen)-1]; last != "9 1m3s 3 epoch=1s threads=2" {
		t.Errorf("the last report is %q", last)
	}
}

// A job that its controller stops before its start is stopped. Other jobs continue.
func TestAControllerStopsAJobAtOnce(t *testing.T) {
	jobs := number([]Job{{Name: "a", Threads: 1, Deadline: Never}, {Name: "b", Threads: 1, Deadline: Never}})
	o, _, _ := steered(t, jobs, &captain{at: map[int]control.Action{0: {Stop: true, Reason: "not today"}}})
	if r := o.Jobs[0]; r.State != Stopped || r.Reason != "not today" || r.FirstStart != Never {
		t.Errorf("%+v", r)
	}
	if o.Jobs[1].State != Finished {
		t.Errorf("%+v", o.Jobs[1])
	}
}

// Controllers receive the service time that the engine measures, and the budget that remains.
func TestUsedIsWhatTheEngineMeasures(t *testing.T) {
	budget := time.Minute
	jobs := number([]Job{{Name: "a", Threads: 1, Special: &Special{Budget: &budget}, Deadline: Never}})
	work := []simulated.Scaling{simulated.Training(2*time.Second, 2, 10*time.Second, 0)}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var left []time.Duration
	run := Run{
		Policy: Policy{Order: FCFS}, Cluster: Cluster{Nodes: []Node{{Threads: 1}}}, Jobs: jobs, Engine: metered{engine}, Recorder: &trace{},
		Steering: &Steering{Reconfigurer: &rudder{Engine: engine, t: t, units: []int{2}},
			Controllers: []control.Controller{watcher(func(r control.Report) {
				left = append(left, r.Left)
			})}},
	}
	if _, err := run.Execute(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(left); got != "[1m0s 49s]" { // the first epoch ends after 12 s, 1 s of it outside the program
		t.Errorf("left of the budget: %s", got)
	}
}

type watcher func(control.Report)

func (w watcher) Decide(r control.Report) control.Action { w(r); return control.Action{} }
