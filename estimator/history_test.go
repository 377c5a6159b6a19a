package estimator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// fleet draws whole runs of several jobs. The pace of a run is the job's pace times a random factor.
type fleet struct {
	r    *rand.Rand
	jobs []float64 // seconds per unit, by job
}

func newFleet(seed uint64, jobs int) fleet {
	f := fleet{r: rand.New(rand.NewPCG(seed, 1))}
	for range jobs {
		f.jobs = append(f.jobs, 0.1*math.Exp(f.r.NormFloat64()))
	}
	return f
}

// fleetPace is the spread of the runs of a fleet's job.
const fleetPace = 0.1

func (f fleet) run(job, length int) Run {
	s := f.sample(job, length)
	return Run{Job: fmt.Sprint("job", job), Resource: Resource{Threads: 2}, Length: length, Seconds: s.Wall}
}

func (f fleet) sample(job, length int) Sample {
	m := machine{r: f.r, unit: f.jobs[job], paceSD: fleetPace, unitSD: 0.04, startup: 1, warmup: 0.02}
	s := m.run(length)
	return Sample{Length: length, Threads: 2, Wall: s.Wall, Units: s.Units}
}

// Past runs of a job improve predictions from short samples.
func TestHistoryBeatsSamplesAlone(t *testing.T) {
	const trials, length = 200, 200
	var alone, with float64
	for trial := range trials {
		f := newFleet(uint64(trial), 1)
		p := Problem{Job: "job0", Samples: []Sample{f.sample(0, 6)}}
		for range 4 {
			p.History = append(p.History, f.run(0, length))
		}
		actual := f.run(0, length).Seconds
		for _, m := range []struct {
			model Model
			sum   *float64
		}{{Linear{}, &alone}, {History{}, &with}} {
			e, err := m.model.Fit(p)
			if err != nil {
				t.Fatal(err)
			}
			*m.sum += math.Abs(e.Predict(length, 0.9).Seconds/actual - 1)
		}
	}
	if with > 0.9*alone {
		t.Errorf("with history the error is %.2f of that without", with/alone)
	}
}

func TestHistoryOfNothing(t *testing.T) {
	f := newFleet(1, 2)
	_, err := History{}.Fit(Problem{Job: "job0", Samples: []Sample{f.sample(0, 6)}})
	if !errors.Is(err, ErrUnfit) {
		t.Errorf("without history: %v", err)
	}
	other := f.run(1, 10)
	_, err = History{}.Fit(Problem{Job: "job0", Samples: []Sample{f.sample(0, 6)}, History: []Run{other}})
	if !errors.Is(err, ErrUnfit) {
		t.Errorf("with nothing but another job: %v", err)
	}
}

// Runs on another host do not count. The speed-up by threads still comes from the samples.
func TestHistoryOfOtherResources(t *testing.T) {
	f := newFleet(1, 1)
	p := Problem{Job: "job0", Samples: []Sample{f.sample(0, 6), f.sample(0, 6)}, History: []Run{f.run(0, 50)}}
	p.Samples[1].Threads = 1
	p.Resource = Resource{Threads: 2, Host: "a"}
	if e, err := (History{}).Fit(p); err != nil || e.Curve == (Curve{}) {
		t.Errorf("%+v, %v", e, err)
	}
	p.History[0].Resource.Host = "b"
	if _, err := (History{}).Fit(p); !errors.Is(err, ErrUnfit) {
		t.Errorf("with a run on another host: %v", err)
	}
}
