package scheduler

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler/control"
)

// answers is a controller that returns given actions one after the other, and records the reports that it receives.
type answers struct {
	list []control.Action
	told []control.Report
}

func (a *answers) Decide(r control.Report) (next control.Action) {
	a.told = append(a.told, r)
	if len(a.list) > 0 {
		next, a.list = a.list[0], a.list[1:]
	}
	return next
}

// world is a fake kernel and Reconfigurer that records its calls.
type world struct {
	log             []string
	begun, stopping bool
	live            bool // whether the program takes new settings without a restart
	refuse, fail    error
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) Follow(jobs []bool) { w.say("follow %v", jobs) }

func (w *world) Adopt(_ int, settings []control.Setting, restart bool) (Adopted, error) {
	if w.refuse != nil {
		return Adopted{}, w.refuse
	}
	w.say("adopt %s, restart %v", control.SettingsText(settings), restart)
	return Adopted{Threads: len(settings), Restart: restart || !w.live}, nil
}

func (w *world) Deepen(_, block int) error { w.say("deepen %d", block); return w.fail }
func (w *world) Restart(int) error         { w.say("restart"); return w.fail }
func (w *world) Name(int32) string         { return "j" }
func (w *world) Begun(int32) bool          { return w.begun }
func (w *world) Stopping() bool            { return w.stopping }

func (w *world) Facts(int32) control.Report { return control.Report{Job: 1} }

func (w *world) Decided(_ int32, c *control.Decision) {
	w.say("decided %s, then %s, restart %v, refused %q", c.Action.Name(), control.SettingsText(c.Settings), c.Restart, c.Refused)
}

func (w *world) Reconfigure(_ int32, to Adopted)      { w.say("reconfigure %d", to.Threads) }
func (w *world) Request(_, cores int32)               { w.say("request %d", cores) }
func (w *world) Demand(_ int32, to Adopted) error     { w.say("demand %d", to.Threads); return w.fail }
func (w *world) Satisfy(_ int32, reason string) error { w.say("satisfy: %s", reason); return w.fail }

func set(pairs ...string) (s []control.Setting) {
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, control.Setting{Name: pairs[i], Value: pairs[i+1]})
	}
	return s
}

// desk returns a host of two jobs. Only the second job has a controller.
func desk(t *testing.T, w *world, list ...control.Action) (*controllerHost, *answers) {
	t.Helper()
	c := &answers{list: list}
	d, err := newControllerHost(&Steering{Controllers: []control.Controller{nil, c}, Settings: [][]control.Setting{nil, set("n", "1")}, Reconfigurer: w}, 2, w)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"follow [false true]"}, w.log); d != "" {
		t.Error(d)
	}
	w.log = nil
	return d, c
}

// Each decision is recorded. How it is carried out depends on the state of the job.
func TestDecisionsAreCarriedOut(t *testing.T) {
	block := 2
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		world  world
		action control.Action
		want   []string
		fails  bool
	}{
		{"nothing", world{begun: true}, control.Action{}, nil, false},
		{"a reason alone", world{begun: true}, control.Action{Reason: "why"}, []string{`decided nothing, then n=1, restart false, refused ""`}, false},
		{"before the start", world{}, control.Action{Settings: set("n", "2")},
			[]string{"adopt n=2, restart false", `decided settings, then n=2, restart false, refused ""`, "reconfigure 1"}, false},
		{"before the start, anew", world{}, control.Action{Settings: set("n", "2"), Restart: true},
			[]string{"adopt n=2, restart false", `decided settings, then n=2, restart false, refused ""`, "reconfigure 1"}, false},
		{"while it runs", world{begun: true, live: true}, control.Action{Settings: set("m", "2")},
			[]string{"adopt n=1 m=2, restart false", `decided settings, then n=1 m=2, restart false, refused ""`, "demand 2"}, false},
		{"a demand that fails", world{begun: true, live: true, fail: broken}, control.Action{Settings: set("m", "2")},
			[]string{"adopt n=1 m=2, restart false", `decided settings, then n=1 m=2, restart false, refused ""`, "demand 2"}, true},
		{"anew", world{begun: true}, control.Action{Settings: set("n", "3"), Allotment: &control.Allotment{Threads: 4}},
			[]string{"adopt n=3, restart false", `decided settings and allotment, then n=3, restart true, refused ""`, "restart"}, false},
		{"anew, as it asks", world{begun: true, live: true}, control.Action{Settings: set("n", "3"), Restart: true},
			[]string{"adopt n=3, restart true", `decided settings, then n=3, restart true, refused ""`, "restart"}, false},
		{"a restart that fails", world{begun: true, fail: broken}, control.Action{Settings: set("n", "3")},
			[]string{"adopt n=3, restart false", `decided settings, then n=3, restart true, refused ""`, "restart"}, true},
		{"cores", world{begun: true}, control.Action{Allotment: &control.Allotment{Threads: 4}},
			[]string{`decided allotment, then n=1, restart false, refused ""`, "request 4"}, false},
		{"no cores", world{begun: true}, control.Action{Allotment: &control.Allotment{}, Reason: "x"},
			[]string{`decided allotment, then n=1, restart false, refused ""`}, false},
		{"a layer", world{begun: true}, control.Action{Deepen: &block}, []string{"deepen 2", `decided deepen 2, then n=1, restart false, refused ""`}, false},
		{"a layer that is refused", world{begun: true, fail: broken}, control.Action{Deepen: &block, Stop: true},
			[]string{"deepen 2", `decided deepen 2 and stop, then n=1, restart false, refused "broken"`}, false},
		{"the end", world{begun: true}, control.Action{Stop: true, Reason: "good enough"},
			[]string{`decided stop, then n=1, restart false, refused ""`, "satisfy: good enough"}, false},
		{"the end, without a reason", world{begun: true}, control.Action{Stop: true},
			[]string{`decided stop, then n=1, restart false, refused ""`, "satisfy: its controller stopped it"}, false},
		{"settings that cannot be", world{begun: true, refuse: broken}, control.Action{Settings: set("n", "9"), Stop: true},
			[]string{`decided settings and stop, then n=1, restart false, refused "broken"`}, false},
		{"while the run is broken off", world{begun: true, stopping: true}, control.Action{Stop: true}, nil, false},
	} {
		w := c.world
		d, _ := desk(t, &w, c.action)
		if err := d.Ask(1, nil); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, w.log); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// A controller receives the reports of its job, the settings that were refused, and restarts, but only after the job
// has begun.
func TestReports(t *testing.T) {
	w := &world{begun: true, refuse: errors.New("too much")}
	d, c := desk(t, w, control.Action{Settings: set("n", "9", "m", "8")}, control.Action{}, control.Action{}, control.Action{})
	report := &control.Progress{Epoch: 1, Step: 2, Loss: 3, Accuracy: 4, Seconds: 5, Refused: set("x", "own")}
	for _, p := range []*control.Progress{nil, report, report} {
		if err := d.Ask(1, p); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.told) != 3 || !math.IsNaN(c.told[0].Loss) || c.told[1].Step != 2 || c.told[1].Loss != 3 || c.told[1].Accuracy != 4 ||
		c.told[1].Epoch != 1 || c.told[1].Seconds != 5 || !c.told[1].Impossible || c.told[2].Impossible {
		t.Fatalf("%+v", c.told)
	}
	if d := cmp.Diff(set("x", "own", "n", "too much", "m", "too much"), c.told[1].Refused); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(set("x", "own"), c.told[2].Refused); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(set("n", "1"), c.told[2].Settings); d != "" {
		t.Error(d)
	}
	w.begun = false
	if err := d.Ask(1, report); err != nil || len(c.told) != 3 {
		t.Errorf("a job that has not begun reports: %v", err)
	}
	if err := errors.Join(d.Ask(0, report), (*controllerHost)(nil).Ask(0, report)); err != nil {
		t.Error(err)
	}
	if _, err := newControllerHost(&Steering{Controllers: []control.Controller{nil}, Reconfigurer: w}, 2, w); err == nil {
		t.Error("controllers of too few jobs")
	}
	if _, err := newControllerHost(&Steering{Controllers: []control.Controller{nil}}, 1, w); err == nil {
		t.Error("controllers without a helm")
	}
}

// What the end of an attempt means depends on who requested it.
func TestEndsOfAttempts(t *testing.T) {
	anew := control.Action{Settings: set("n", "3")}
	for _, c := range []struct {
		name     string
		asked    []control.Action // the action at each report
		ends     State
		stopping bool
		refuse   error
		state    State // the state after the end
		reason   string
		anew     bool
	}{
		{"on its own", nil, Stopped, false, nil, Stopped, "r", false},
		{"finished", []control.Action{anew}, Finished, false, nil, Finished, "r", false},
		{"to be started anew", []control.Action{anew}, Stopped, false, nil, Stopped, "r", true},
		{"to be started anew, while the run ends", []control.Action{anew}, Stopped, true, nil, Stopped, "r", false},
		{"stopped by its controller", []control.Action{{Stop: true, Reason: "enough"}}, Stopped, false, nil, Finished, "enough", false},
		{"stopped, and failed", []control.Action{{Stop: true, Reason: "enough"}}, Failed, false, nil, Failed, "r", false},
		{"failed with old settings", nil, Failed, false, nil, Failed, "r", false},
		{"failed with new settings, without others", []control.Action{anew}, Failed, false, nil, Failed, "r", false},
		{"failed with new settings, and others", []control.Action{anew, {Settings: set("n", "4")}}, Failed, false, nil, Stopped, "r", true},
		{"failed with new settings, others cannot be", []control.Action{anew, {Settings: set("n", "4")}}, Failed, false, errors.New("no"), Failed, "r", false},
	} {
		w := &world{begun: true}
		d, told := desk(t, w, c.asked...)
		if len(c.asked) > 0 {
			if err := d.Ask(1, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.stopping, w.refuse = c.stopping, c.refuse
		e := &Notice{State: c.ends, Reason: "r"}
		next, again := d.Ended(1, e)
		if again != c.anew || e.State != c.state || e.Reason != c.reason || again != (next.Threads > 0) {
			t.Errorf("%s: %v, %s, %q, %+v", c.name, again, e.State, e.Reason, next)
		}
		if !again {
			continue
		}
		w.refuse = nil
		if err := d.Ask(1, nil); err != nil {
			t.Fatal(err)
		}
		want := set("n", "3")
		if c.ends == Failed {
			want = set("n", "4")
			if crashed := told.told[1].Crashed; crashed != "r" {
				t.Errorf("%s: the controller is told %q", c.name, crashed)
			}
		}
		last := told.told[len(told.told)-1]
		if d := cmp.Diff(want, last.Settings); d != "" || !last.Restarted {
			t.Errorf("%s: started anew %v: %s", c.name, last.Restarted, d)
		}
		if err := d.Ask(1, nil); err != nil || told.told[len(told.told)-1].Restarted {
			t.Errorf("%s: it is told twice that it was started anew", c.name)
		}
	}
	w := &world{begun: true}
	d, told := desk(t, w, anew)
	if err := errors.Join(d.Ask(1, nil), d.Ask(1, nil)); err != nil || len(told.told) != 1 {
		t.Errorf("a job that ends its attempt is asked about: %d times, %v", len(told.told), err)
	}
	if _, again := d.Ended(0, &Notice{State: Stopped}); again {
		t.Error("a job without a controller is started anew")
	}
	// The first report after a change shows that the new settings work. A failure after it is a failure of the job.
	w = &world{begun: true, live: true}
	d, _ = desk(t, w, anew, control.Action{}, control.Action{Settings: set("n", "4")})
	if err := errors.Join(d.Ask(1, nil), d.Ask(1, &control.Progress{})); err != nil {
		t.Fatal(err)
	}
	if _, again := d.Ended(1, &Notice{State: Failed}); again {
		t.Error("a job that failed with settings that had done is started anew")
	}
	d, told = desk(t, &world{begun: true}, control.Action{Stop: true})
	if err := errors.Join(d.Ask(1, nil), d.Ask(1, nil)); err != nil || len(told.told) != 1 {
		t.Errorf("a job that was stopped is asked about: %d times, %v", len(told.told), err)
	}
}
