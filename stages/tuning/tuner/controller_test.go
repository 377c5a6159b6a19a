package tuner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// training is a job with a controller. An epoch takes a second, or the time of its setting; a change takes the given
// time.
type training struct {
	epochs       int
	pace         map[string]float64 // seconds, by the setting's value
	cost         float64
	loss         func(epoch int) float64
	crashes, not string // setting values with which the program crashes, and values that the job cannot have
	live         bool   // false: the program refuses to change while it runs
	deaf         bool   // the program ignores changes while it runs, and does not report this
	// later are the paces from a given epoch on.
	later map[string]float64
	from  int
	told  func(control.Action) // receives decisions; may be nil
	wave  float64              // relative amplitude of the epochs' times
	tells bool                 // the program reports the length of its epochs
	pairs bool                 // two reports arrive at once
	right func(epoch int) float64
}

func options(mode string) tuner.Options {
	method, _ := tuner.Find("bo")
	p := &tuner.Problem{Space: surrogate.Space{{Name: "size", Numbers: []float64{1, 2, 4, 8}, Log: true}},
		Scale: surrogate.Log, Trials: 10, Seed: 1}
	p.Initial = []float64{0}
	return tuner.Options{
		Problem: p, Method: method, Names: []string{"size"}, Initial: p.Initial, Learns: []bool{false}, Units: 200, Stretch: 2,
		Tries: 10, Level: 0.9, Fixed: mode == "fixed", Restart: mode == "restart",
		Values: func(at []float64) []string { return []string{record(p.Space[0].Value(at[0]))} },
	}
}

func record(v float64) string { return string(rune('0' + int(v))) }

// run trains to the end. It returns the seconds that this took, the decisions as text, and the last setting.
func (j training) run(t *testing.T, c *tuner.Controller) (seconds float64, said []string, last string) {
	t.Helper()
	now := []control.Setting{{Name: "size", Value: "1"}}
	said = []string{}
	held := now // the settings that the program uses
	var refused []control.Setting
	impossible := false
	for epoch := 0; epoch <= j.epochs; epoch++ {
		r := control.Report{Epoch: epoch, Loss: math.NaN(), Accuracy: math.NaN(), Seconds: math.NaN(), Left: control.NoBudget,
			Settings: now}
		if epoch > 0 {
			pace := j.pace
			if j.later != nil && epoch > j.from {
				pace = j.later
			}
			took := pace[held[0].Value] * (1 + j.wave*math.Sin(float64(epoch)))
			if seconds += took; j.tells {
				r.Seconds = took
			}
			r.Used = time.Duration(seconds * 1e9)
			if j.pairs && epoch%2 == 1 {
				r.Used += time.Duration(took * 1e9)
			}
			if j.loss != nil {
				r.Loss = j.loss(epoch)
			}
			if j.right != nil {
				r.Accuracy = j.right(epoch)
			}
			r.Refused, r.Impossible, refused, impossible = refused, impossible, nil, false
		}
		a := c.Decide(r)
		for tries := 0; ; tries++ {
			if j.told != nil {
				j.told(a)
			}
			if a.Reason != "" {
				said = append(said, strings.TrimSpace(control.SettingsText(a.Settings)+" "+a.Reason))
			}
			if a.Stop {
				return seconds, said, held[0].Value
			}
			if len(a.Settings) == 0 {
				break
			}
			to := a.Settings[0].Value
			switch {
			case to == j.not:
				refused, impossible = []control.Setting{{Name: "size", Value: "it is too much"}}, true
			case !j.live && !a.Restart:
				refused = []control.Setting{{Name: "size", Value: "not while it runs"}}
			default:
				now = []control.Setting{{Name: "size", Value: to}}
				seconds += j.cost
				if !j.deaf || a.Restart {
					held = now
				}
			}
			if to != j.crashes || len(refused) > 0 {
				break
			}
			if tries > 5 {
				t.Fatal("it tries the settings that crash again and again")
			}
			r.Crashed, r.Settings = "exit status 1", now
			a = c.Decide(r)
		}
	}
	return seconds, said, held[0].Value
}

// If a setting is twice as fast, a tuned job ends almost as early as with this setting from the beginning.
func TestAJobIsTunedWhileItTrains(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}, cost: 1, live: true}
	for _, mode := range []string{"online", "restart", "fixed"} {
		took, said, last := job.run(t, tuner.New(options(mode)))
		switch {
		case mode == "fixed" && (took != 200 || len(said) > 0):
			t.Errorf("%s: it took %v s, and said %q", mode, took, said)
		case mode != "fixed" && (last != "4" || took > 1.15*100):
			t.Errorf("%s: it ends with %s after %v s:\n%s", mode, last, took, strings.Join(said, "\n"))
		}
	}
}

// The same reports give the same decisions.
func TestTheSameReportsGiveTheSameDecisions(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}, cost: 1, live: true}
	_, first, _ := job.run(t, tuner.New(options("online")))
	_, second, _ := job.run(t, tuner.New(options("online")))
	if strings.Join(first, "\n") != strings.Join(second, "\n") || len(first) == 0 {
		t.Errorf("%q\n%q", first, second)
	}
}

// A change is not made if it costs more than it can save.
func TestAChangeHasToPay(t *testing.T) {
	job := training{epochs: 20, pace: map[string]float64{"1": 1, "2": 0.9, "4": 0.9, "8": 0.9}, cost: 30, live: true}
	o := options("restart")
	o.Units = 20
	job.pace["1"] = 1
	c := tuner.New(o)
	// The start takes 30 seconds before the first epoch, and a restart would take as long.
	c.Decide(control.Report{})
	for epoch := 1; epoch <= 20; epoch++ {
		a := c.Decide(control.Report{Epoch: epoch, Used: time.Duration(30+epoch) * time.Second, Loss: math.NaN(),
			Accuracy: math.NaN()})
		if len(a.Settings) > 0 {
			t.Fatalf("epoch %d: %+v", epoch, a)
		}
	}
}

// A job ends at its target, or at its limit; the reason then says that the target was not reached.
func TestTargetAndLimit(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 1, "4": 1, "8": 1}, live: true,
		loss: func(epoch int) float64 { return 1 / float64(epoch) }}
	o := options("online")
	o.Target, o.Bound, o.Limit = "loss", 0.02, 100*time.Second
	_, said, _ := job.run(t, tuner.New(o))
	if got := said[len(said)-1]; got != "the target loss of 0.02 is reached" {
		t.Errorf("it ends with %q", got)
	}
	o.Bound = 0.001
	took, said, _ := job.run(t, tuner.New(o))
	if got := said[len(said)-1]; got != "the time limit of 1m40s is used up, and the target loss of 0.001 was not reached" ||
		took < 100 || took > 101 {
		t.Errorf("it ends with %q after %v s", got, took)
	}
}

// Settings that crash, or that the job cannot have, are not used again. Settings that the program refuses to change
// while it runs are changed by a restart.
func TestSettingsThatDoNotWork(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}, cost: 1, crashes: "4",
		not: "8"}
	_, said, last := job.run(t, tuner.New(options("online")))
	text := strings.Join(said, "\n")
	if last != "2" || !strings.Contains(text, "it is restarted") ||
		!strings.Contains(text, "the program failed with these settings: exit status 1") {
		t.Errorf("it ends with %s:\n%s", last, text)
	}
}

// A program reads a setting only when it starts, and does not report this. The controller detects it, restarts the
// program, and measures the setting then.
func TestAProgramThatIgnoresSettingsIsFoundOut(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}, cost: 1, live: true,
		deaf: true}
	o := options("online")
	o.Live, o.Learns = []bool{true}, []bool{true} // its flags differ between settings
	_, said, last := job.run(t, tuner.New(o))
	text := strings.Join(said, "\n")
	if last != "4" || !strings.Contains(text, "the program did not confirm size, and its pace is as "+
		"before: it is restarted") {
		t.Errorf("it ends with %s:\n%s", last, text)
	}
	// If a restart does not help either, the setting is not tried again.
	o = options("online")
	o.Live = []bool{true}
	job.pace = map[string]float64{"1": 1, "2": 1, "4": 1, "8": 1}
	took, said, _ := job.run(t, tuner.New(o))
	text = strings.Join(said, "\n")
	if strings.Count(text, "do not count as tried") != 1 || took > 210 {
		t.Errorf("it takes %v s:\n%s", took, text)
	}
}

// When the job slows down at the best settings, the controller searches again, and finds the settings that are best
// now.
func TestASecondLookWhenThePaceChanges(t *testing.T) {
	job := training{
		epochs: 300, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}, cost: 0.5, live: true,
		later: map[string]float64{"1": 1, "2": 0.6, "4": 0.95, "8": 0.9}, from: 100,
	}
	o := options("online")
	o.Units = 300
	_, said, last := job.run(t, tuner.New(o))
	if text := strings.Join(said, "\n"); last != "2" || !strings.Contains(text,
		"the pace of the job has changed") {
		t.Errorf("it ends with %s:\n%s", last, text)
	}
	// Without a change of pace it does not search again.
	job.later = nil
	if _, said, _ := job.run(t, tuner.New(o)); strings.Contains(strings.Join(said, "\n"), "another pace") {
		t.Errorf("it looks again for nothing:\n%s", strings.Join(said, "\n"))
	}
}

// More cores are expected to be faster. Settings with fewer cores are not tried if settings with more cores were good.
func TestFewerCoresAreNotTried(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.4}, cost: 3, live: true}
	o := options("online")
	o.Cores = func(at []float64) int { return int(o.Problem.Space[0].Value(at[0])) }
	took, said, last := job.run(t, tuner.New(o))
	if last != "8" || len(said) > 4 || took > 1.1*80 {
		t.Errorf("it ends with %s after %v s:\n%s", last, took, strings.Join(said, "\n"))
	}
}

// Paces measured on a machine of another speed lead directly to the best setting.
func TestKnownPacesLeadToTheBest(t *testing.T) {
	job := training{epochs: 200, pace: map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}, cost: 3, live: true}
	o := options("online")
	for i, pace := range []float64{3, 2, 1.6, 2.6} {
		d := &o.Problem.Space[0]
		o.Known = append(o.Known, tuner.MeasuredPace{At: []float64{d.Coordinate(d.Numbers[i])}, Pace: pace})
	}
	_, said, last := job.run(t, tuner.New(o))
	if last != "4" || len(said) > 3 || !strings.HasPrefix(said[0], "size=4") {
		t.Errorf("it ends with %s:\n%s", last, strings.Join(said, "\n"))
	}
}

// Two settings change. The program restarts for the one that it cannot change while it runs; later changes of the other
// one are in place.
func TestOneOfTwoSettingsNeedsANewStart(t *testing.T) {
	o := options("online")
	o.Problem.Space = surrogate.Space{{Name: "cores", Numbers: []float64{1, 2}},
		{Name: "batch", Numbers: []float64{32, 128}}}
	o.Problem.Initial, o.Initial = []float64{0, 0}, []float64{0, 0}
	o.Names, o.Learns, o.Live = []string{"cores", "batch"}, []bool{false, true}, []bool{false, true}
	o.Values = func(at []float64) []string { return []string{fmt.Sprint(at[0]), fmt.Sprint(at[1])} }
	points := [][]float64{{1, 1}, {1, 0}}
	o.Method = tuner.Method{Name: "in order", Suggest: func(*tuner.Problem, []surrogate.Trial) (tuner.Suggestion, error) {
		if len(points) == 0 {
			return tuner.Suggestion{}, tuner.ErrDone
		}
		at := points[0]
		points = points[1:]
		return tuner.Suggestion{At: at}, nil
	}}
	c := tuner.New(o)
	held, used := map[string]string{"cores": "0", "batch": "0"}, 0.0
	both, inPlace, restarted := false, false, false
	var took []control.Setting
	for epoch := range 60 {
		if epoch > 0 {
			used += map[string]float64{"00": 8, "10": 2, "01": 9, "11": 6}[held["cores"]+held["batch"]]
		}
		a := c.Decide(control.Report{
			Epoch: epoch, Loss: math.NaN(), Accuracy: math.NaN(), Seconds: math.NaN(), Left: control.NoBudget,
			Used: time.Duration(used * 1e9), Restarted: restarted, Took: took,
		})
		restarted, took = a.Restart, nil
		changed := map[string]bool{}
		for _, s := range a.Settings {
			changed[s.Name], held[s.Name] = true, s.Value
			restarted = restarted || s.Name == "cores"
		}
		if changed["batch"] && !restarted {
			took = []control.Setting{{Name: "batch", Value: held["batch"]}}
		}
		switch {
		case changed["cores"] && changed["batch"]:
			both = true
		case changed["cores"] && both && !a.Restart:
			t.Errorf("after %d epochs: cores were to change in place again", epoch)
		case changed["batch"] && both && a.Restart:
			t.Errorf("after %d epochs: batch needs no new start", epoch)
		case changed["batch"] && both:
			inPlace = true
		}
	}
	if !both || !inPlace {
		t.Errorf("both were changed at once: %v; batch in place after that: %v", both, inPlace)
	}
}
