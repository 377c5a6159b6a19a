package recorded

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

const table = `time,step,accuracy,run
0,0,0.1,a
60,100,0.9,a
0,0,0.1,b
30,40,0.4,b
`

func block(t *testing.T, set map[string]any) engine.Block {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", "t.csv"), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range set {
		names[name] = true
	}
	return engine.Block{Base: dir, Values: engine.Values{All: set, Set: names}}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		set  map[string]any
		arg  string
		text string
		runs int
	}{
		{map[string]any{"runs": "runs", "steps": 100}, "", "", 2},
		{map[string]any{"runs": "runs", "steps": 100, "unfinished": "skip"}, "", "", 1},
		{map[string]any{}, "", "runs must name", 0},
		{map[string]any{"runs": "elsewhere"}, "runs", "no such file", 0},
		{map[string]any{"runs": "runs", "columns": map[string]string{"x": "y"}}, "columns", `"x" is not a property of runs`, 0},
		{map[string]any{"runs": "runs", "columns": map[string]string{"step": "it"}}, "runs", "name the columns", 0},
	} {
		got, problems := decode(block(t, c.set))
		if n := len(got.(*settings).runs); n != c.runs {
			t.Errorf("%v: %d runs, want %d", c.set, n, c.runs)
		}
		switch {
		case c.text == "" && len(problems) == 0:
		case len(problems) != 1 || problems[0].Arg != c.arg || !strings.Contains(problems[0].Detail, c.text):
			t.Errorf("%v: problems %+v, want %q", c.set, problems, c.text)
		}
	}
}

func TestReplay(t *testing.T) {
	set, problems := decode(block(t, map[string]any{"runs": "runs", "steps": 100}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	jobs := []scheduler.Job{{Name: "x-1", Threads: 1}, {Name: "x-2", Number: 1, Threads: 1}}
	s := engine.Simulation{Hardware: &engine.Hardware{Settings: set}, Jobs: jobs, Replicate: 1}
	e, err := simulate(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.(engine.Replay); !ok {
		t.Fatal("the engine is no Replay")
	}
	grant := func(core int32) scheduler.Grant {
		return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: core, Hi: core + 1}}}
	}
	var ends []scheduler.Notice
	if err := e.Start(0, grant(0)); err != nil {
		t.Fatal(err)
	}
	for len(ends) < 2 {
		_, news, err := e.Next(t.Context(), scheduler.Never)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, news...)
		if len(ends) == 1 {
			if err := e.Start(1, grant(1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ends[0].At != time.Minute || ends[0].State != scheduler.Finished || ends[1].At != 90*time.Second ||
		ends[1].State != scheduler.Failed || ends[1].Reason == "" {
		t.Errorf("the ends are %+v", ends)
	}
	r := e.(engine.Replay).Replayed(1)
	if len(r.Progress) != 2 || r.Progress[1].At != 90*time.Second || *r.Progress[1].Accuracy != 0.4 ||
		r.Accuracy != 0.4 {
		t.Errorf("replayed: %+v", r)
	}
	s.Replicate = 2
	if _, err := simulate(s); err == nil || !strings.Contains(err.Error(),
		"the folder has 2 recorded runs, but this cell needs the runs 3 to 4") {
		t.Errorf("error %v", err)
	}
}

// TestServersOfARun checks the servers of a recorded run: a revoked server costs money until its loss, the others until
// the end of the run. Values that were not recorded are not reported.
func TestServersOfARun(t *testing.T) {
	b := block(t, map[string]any{"runs": "runs", "steps": 100, "worker_price": 3.6})
	for name, text := range map[string]string{
		"t.csv":       "time,step,loss,run\n0,0,,a\n1000,100,0.5,a\n",
		"servers.csv": "run,server,uptime,revoked\na,x,250,yes\na,y,2000,no\n",
	} {
		if err := os.WriteFile(filepath.Join(b.Base, "runs", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, problems := decode(b)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := engine.Simulation{Hardware: &engine.Hardware{Settings: set}, Jobs: []scheduler.Job{{Threads: 1}}, Replicate: 1}
	e, err := simulate(s)
	if err != nil {
		t.Fatal(err)
	}
	r := e.(engine.Replay).Replayed(0)
	if len(r.Servers) != 2 || r.Revocations != 1 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []engine.ReplayedServer{
		{Name: "x", Role: "worker", Uptime: 250 * time.Second, Revoked: true, PricePerHour: 3.6, Cost: 0.25},
		{Name: "y", Role: "worker", Uptime: 2000 * time.Second, PricePerHour: 3.6, Cost: 1},
	} {
		if got := r.Servers[i]; math.Abs(got.Cost-want.Cost) > 1e-9 {
			t.Errorf("%s costs %g, want %g", got.Name, got.Cost, want.Cost)
		} else if got.Cost = want.Cost; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if p := r.Progress; len(p) != 2 || p[0].Loss != nil || p[1].Loss == nil || *p[1].Loss != .5 || p[1].Accuracy != nil {
		t.Errorf("it reported %+v", p)
	}
}

// TestLines checks that each run has a separate line in the cache key, which changes with the run's content.
func TestLines(t *testing.T) {
	of := func(change func(string) string) []engine.KeyLine {
		b := block(t, map[string]any{"runs": "runs"})
		if err := os.WriteFile(filepath.Join(b.Base, "runs", "t.csv"), []byte(change(table)), 0o644); err != nil {
			t.Fatal(err)
		}
		set, _ := decode(b)
		return lines(&engine.Hardware{Settings: set})
	}
	one := of(func(s string) string { return s })
	other := of(func(s string) string { return strings.Replace(s, "30,40,0.4,b", "30,40,0.5,b", 1) })
	if len(one) != 2 || one[0].Label != "hardware.run.0001" || one[1].Label != "hardware.run.0002" {
		t.Errorf("lines %v", one)
	}
	if other[0] != one[0] || other[1] == one[1] {
		t.Errorf("after an edit of the second run: %v, before %v", other, one)
	}
}
