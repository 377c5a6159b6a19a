package tuner_test

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

var update = flag.Bool("update", false, "write the golden file of the transcripts")

// TestTranscripts compares the decisions for trainings of many kinds, and their expected gains, with
// testdata/transcripts.txt.
func TestTranscripts(t *testing.T) {
	paces := map[string]float64{"1": 1, "2": 0.7, "4": 0.5, "8": 0.9}
	plain := training{epochs: 200, pace: paces, cost: 1, live: true, wave: 0.03}
	falling := func(epoch int) float64 { return 2 / math.Sqrt(float64(epoch)) }
	cores := func(o *tuner.Options) {
		o.Cores = func(at []float64) int { return int(o.Problem.Space[0].Value(at[0])) }
	}
	known := func(o *tuner.Options) {
		for i, pace := range []float64{3, 2, 1.6, 2.6} {
			d := &o.Problem.Space[0]
			o.Known = append(o.Known, tuner.MeasuredPace{At: []float64{d.Coordinate(d.Numbers[i])}, Pace: pace})
		}
	}
	by := func(name string) func(*tuner.Options) {
		return func(o *tuner.Options) { o.Method, _ = tuner.Find(name) }
	}
	learns := func(o *tuner.Options) { o.Learns, o.Live = []bool{true}, []bool{true} }
	var text strings.Builder
	for _, c := range []struct {
		about  string
		mode   string
		job    func(*training)
		change []func(*tuner.Options)
	}{
		{"as they come", "online", nil, nil},
		{"without a model", "online", nil, []func(*tuner.Options){by("random")}},
		{"by new starts that cost 6 s", "restart", func(j *training) { j.cost = 6 }, nil},
		{"by new starts, without a model", "restart", func(j *training) { j.cost = 6 }, []func(*tuner.Options){by("random")}},
		{"settings that ask for cores", "online", func(j *training) { j.cost = 3 }, []func(*tuner.Options){cores}},
		{"known paces", "online", nil, []func(*tuner.Options){known}},
		{"known paces of settings that ask for cores", "online", nil, []func(*tuner.Options){known, cores}},
		{"another pace from 90 on", "online", func(j *training) {
			j.later, j.from = map[string]float64{"1": 1.2, "2": 0.7, "4": 1.1, "8": 0.8}, 90
		}, nil},
		{"another pace from 90 on, with cores", "online", func(j *training) {
			j.later, j.from = map[string]float64{"1": 1.2, "2": 0.7, "4": 1.1, "8": 0.8}, 90
		}, []func(*tuner.Options){cores}},
		{"much noise", "online", func(j *training) { j.wave = 0.3 }, nil},
		{"settings that change what is learned", "online", func(j *training) { j.loss = falling }, []func(*tuner.Options){learns}},
		{"to a target loss", "online", func(j *training) { j.loss = falling }, []func(*tuner.Options){learns, func(o *tuner.Options) {
			o.Target, o.Bound = "loss", 0.2
		}}},
		{"with a limit", "online", nil, []func(*tuner.Options){func(o *tuner.Options) { o.Limit = 60 * time.Second }}},
		{"short", "online", func(j *training) { j.epochs = 12 }, []func(*tuner.Options){func(o *tuner.Options) { o.Units = 12 }}},
		{"longer stretches", "online", nil, []func(*tuner.Options){func(o *tuner.Options) { o.Stretch = 6 }}},
		{"stretches of one report, two tries", "online", nil, []func(*tuner.Options){func(o *tuner.Options) { o.Stretch, o.Tries = 1, 2 }}},
		{"one that crashes and one that cannot be", "online", func(j *training) { j.crashes, j.not = "4", "8" }, nil},
		{"not while it runs", "online", func(j *training) { j.live = false }, nil},
		{"deaf", "online", func(j *training) { j.deaf, j.loss = true, falling }, []func(*tuner.Options){learns}},
		{"deaf, all alike", "online", func(j *training) {
			j.deaf, j.pace = true, map[string]float64{"1": 1, "2": 1, "4": 1, "8": 1}
		}, []func(*tuner.Options){learns}},
		{"epochs that are told", "online", func(j *training) { j.tells = true }, nil},
		{"reports in pairs", "online", func(j *training) { j.tells, j.pairs, j.wave = true, true, 0 }, nil},
		{"to a target accuracy", "online", func(j *training) {
			j.right = func(epoch int) float64 { return 1 - 1/math.Sqrt(float64(epoch+1)) }
		}, []func(*tuner.Options){func(o *tuner.Options) { o.Target, o.Bound = "accuracy", 0.91 }}},
		{"settings that change what is learned, hardly", "online", func(j *training) {
			j.loss = func(epoch int) float64 { return 2 - 0.0005*float64(epoch) }
		}, []func(*tuner.Options){learns}},
		{"known paces, one without a meaning, of settings that ask for cores", "online", nil, []func(*tuner.Options){known, cores,
			func(o *tuner.Options) {
				o.Known = append(o.Known[1:3:3], tuner.MeasuredPace{At: []float64{0.5}, Pace: math.Inf(1)})
			}}},
		{"changes that cost little or much", "restart", func(j *training) { j.cost, j.wave = 0.2, 0.1 }, []func(*tuner.Options){
			func(o *tuner.Options) { o.Stretch = 4 }}},
	} {
		o, job := options(c.mode), plain
		if c.job != nil {
			c.job(&job)
		}
		for _, change := range c.change {
			change(&o)
		}
		fmt.Fprintf(&text, "%s\n", c.about)
		n := 0
		job.told = func(a control.Action) {
			if n++; a.Reason == "" {
				return
			}
			fmt.Fprintf(&text, "\t%d: %s", n, (&control.Decision{Action: a}).String())
			if e := a.Expected; e != nil {
				fmt.Fprintf(&text, " [gain %.4g, cost %.4g, left %.4g of %.4g to %.4g, sure %.4g]", e.Gain, e.Cost, e.Left, e.Low, e.High, e.Sure)
			}
			fmt.Fprintln(&text)
		}
		took, _, last := job.run(t, tuner.New(o))
		fmt.Fprintf(&text, "\tends with %s after %.4f s\n", last, took)
	}
	schedulertest.Text(t, "testdata/transcripts.txt", text.String(), *update)
}
