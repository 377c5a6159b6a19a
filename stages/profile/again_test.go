package profile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/stages"
)

// pipeline is one whose real cells take so long.
type pipeline struct {
	stages.Sampling
	stages.PastRuns
	stages.CellQueue
	stages.Shards
	stages.CellFolders
	stages.Pieces
	stages.Engines
	stages.Log
	cells time.Duration
	kept  int
}

func (p *pipeline) PredictReal(context.Context) (time.Duration, error) { return p.cells, nil }
func (p *pipeline) KeepPiece(_ string, _ stages.Piece, _ []byte, _ float64) error {
	p.kept++
	return nil
}

// known is an experiment that has the samples which were made known.
type known struct {
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	samples map[string][]estimator.Sample
}

func (k *known) SetSamples(hash string, s []estimator.Sample) { k.samples[hash] = s }

// Samples of an unsteady job are taken again as long as there is room, and kept; samples of a steady one are not,
// nor if the file sets their number. When one fails, the existing ones stay.
func TestSamplesThatSayLittleAreTakenAgain(t *testing.T) {
	rough := estimator.Sample{Length: 4, Wall: 1, Cost: 1, Units: []float64{0.25, 0.2, 0.3, 0.25}}
	steady := estimator.Sample{Length: 4, Wall: 1, Cost: 1, Units: []float64{0.25, 0.25, 0.25, 0.25}}
	for _, c := range []struct {
		name    string
		cells   time.Duration
		sample  estimator.Sample
		repeats int
		fails   bool
		want    int // samples in the end
	}{
		{"room for all rounds", time.Hour, rough, 1, false, 1 + mostRounds},
		{"room for two more", 100 * time.Second, rough, 1, false, 3},
		{"room for one more", 70 * time.Second, rough, 1, false, 2},
		{"no room", 10 * time.Second, rough, 1, false, 1},
		{"steady", time.Hour, steady, 1, false, 1},
		{"counted by the file", time.Hour, rough, 2, false, 1},
		{"failing", time.Hour, rough, 1, true, 1},
	} {
		on, x := &pipeline{cells: c.cells}, &known{samples: map[string][]estimator.Sample{}}
		unit := &stages.Unit{Name: "j", Hash: "h", Lengths: []int{2, 4}, Repeats: c.repeats, Total: 100, Asked: true,
			Threads: 1}
		unit.Relatives = []int{0}
		s := &sampling{Run: &stages.Run{Dir: t.TempDir(), Experiment: x, Sampling: x, PastRuns: x,
			CellQueue: on, Shards: on, CellFolders: on, Pieces: on, Engines: on, Log: on}, units: []*stages.Unit{unit},
			pieces: []stages.PlannedPiece{{Make: true}}, taken: [][]estimator.Sample{{c.sample}}}
		if err := os.MkdirAll(filepath.Join(s.Dir, samplesDir), 0o755); err != nil {
			t.Fatal(err)
		}
		s.one = func(_ context.Context, u *stages.Unit, at task) (estimator.Sample, error) {
			if c.fails {
				return estimator.Sample{}, errors.New("failed")
			}
			if at.length != 4 || sampleName(u, at) == "j-sample-2" {
				t.Errorf("%s: %+v, %s", c.name, at, sampleName(u, at))
			}
			return c.sample, nil
		}
		if err := s.again(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(s.taken[0]) != c.want {
			t.Errorf("%s: %d samples, want %d", c.name, len(s.taken[0]), c.want)
		}
		if more := c.want > 1; more != (on.kept == 1) || more && len(x.samples["h"]) != c.want {
			t.Errorf("%s: kept %d times, %d samples", c.name, on.kept, len(x.samples["h"]))
		}
	}
}

// Where the samples of one job differ, the samples of all are taken again, in turn: the few of another job agree by
// chance.
func TestSamplesOfAllJobsAreTakenAgain(t *testing.T) {
	on, x := &pipeline{cells: 200 * time.Second}, &known{samples: map[string][]estimator.Sample{}}
	unit := func(name string, place, repeats, copies int) *stages.Unit {
		return &stages.Unit{Name: name, Hash: name, Lengths: []int{4}, Repeats: repeats, Total: 100, Asked: copies == 0,
			Copies: copies, Threads: 1, Relatives: []int{place}}
	}
	steady := estimator.Sample{Length: 4, Wall: 0.5, Cost: 0.5, Units: []float64{0.25, 0.25, 0.25, 0.25}}
	rough := steady
	rough.Units = []float64{0.25, 0.1, 0.4, 0.25}
	s := &sampling{
		Run: &stages.Run{Dir: t.TempDir(), Experiment: x, Sampling: x, PastRuns: x,
			CellQueue: on, Shards: on, CellFolders: on, Pieces: on, Engines: on, Log: on},
		units:  []*stages.Unit{unit("steady", 0, 1, 0), unit("counted", 1, 2, 0), unit("beside", 2, 1, 2), unit("rough", 3, 1, 0)},
		pieces: []stages.PlannedPiece{{Make: true}, {Make: true}, {Make: true}, {Make: true}},
		taken:  [][]estimator.Sample{{steady}, {steady}, {steady}, {rough}},
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, samplesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	var order []string
	s.one = func(_ context.Context, u *stages.Unit, _ task) (estimator.Sample, error) {
		order = append(order, u.Name)
		if u.Name == "rough" {
			return rough, nil
		}
		return steady, nil
	}
	if err := s.again(context.Background()); err != nil {
		t.Fatal(err)
	}
	// 3% of 200 s have room for 12 samples of half a second, of which 4 exist already.
	want := "steady beside rough steady beside rough steady beside"
	if got := strings.Join(order, " "); got != want || on.kept != 3 || len(x.samples["counted"]) != 0 {
		t.Errorf("taken again: %s, want %s; %d kept", got, want, on.kept)
	}
}
