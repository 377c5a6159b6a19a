package profile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

var _ = stages.Register(&stages.Stage{
	Name:   stage,
	Writes: []stages.Artifact{stages.Samples},
	Files:  []string{samplesDir},
	Pieces: &stages.PieceStore{
		Title: "profiling", Noun: "profiling sample", Earlier: "sampled earlier", List: list, Find: find,
	},
	Run: run,
})

const stage = "profile"

// details is a unit in the output of plan --json.
type details struct {
	Job     string `json:"job"`
	Threads int    `json:"threads"`
	Lengths []int  `json:"lengths"` // length of each sample, in Unit
	Unit    string `json:"unit"`    // "epochs" or "steps"
	Repeats int    `json:"repeats"` // samples of each length
}

// list returns a piece for each unit to sample, in order.
func list(p stages.Planning) ([]stages.Piece, error) {
	var pieces []stages.Piece
	for _, u := range p.SampledUnits() {
		pieces = append(pieces, stages.Piece{
			Name: u.Name, Family: u.Block, Key: u.Key, Text: text(u, p.Budget()), Count: len(u.Lengths) * max(u.Repeats, 1),
			ForCells: true, Details: details{u.Job, u.Threads, u.Lengths, u.LengthUnit(), u.Repeats},
		})
	}
	return pieces, nil
}

// text describes a unit: "on 2 threads: samples of 2 and 4 epochs, and more (in all at most 10% of the real cells'
// time)".
func text(u *stages.Unit, budget float64) string {
	if u.Copies > 0 {
		return fmt.Sprintf("%d side by side on %s each: a sample of %d %s", u.Copies, threads(u.Threads), u.Lengths[0],
			u.LengthUnit())
	}
	parts := schema.Each(u.Lengths, func(n int) string { return fmt.Sprint(n) })
	s := "on " + threads(u.Threads) + ": samples of " + strings.Join(parts, " and ") + " " + u.LengthUnit()
	if u.Repeats > 1 {
		s += ", " + schema.Plural(u.Repeats, "time") + " each"
	} else if u.Total > 0 {
		s += fmt.Sprintf(", and more (in all at most %.3g%% of the real cells' time)", 100*cmp.Or(budget, usualShare))
	}
	return s
}

// find reads the samples of a unit from the cache or, if the cache lacks them, from their file. It reports whether they
// were found.
func find(p stages.Planning, piece stages.Piece, kept []byte) bool {
	var unit *stages.Unit
	for _, u := range p.SampledUnits() {
		if u.Key == piece.Key {
			unit = u
		}
	}
	if unit == nil {
		return false
	}
	if kept != nil {
		var samples []estimator.Sample
		if json.Unmarshal(kept, &samples) != nil {
			return false
		}
		p.SetSamples(unit.Hash, samples)
		return true
	}
	samples, ok := readSamples(p.Dir, unit)
	if ok {
		p.SetSamples(unit.Hash, samples)
	}
	return ok
}

// samplesDir is the folder, in the experiment's folder, with samples and their logs.
const samplesDir = record.SamplesDir

// saved is a file with samples and the description of their key. It is used if another tfexp has locked the cache, or
// the cache was deleted.
type saved struct {
	Description string             `json:"description"`
	Samples     []estimator.Sample `json:"samples"`
}

func path(dir string, unit *stages.Unit) string {
	return filepath.Join(dir, samplesDir, unit.Name+".json")
}

// readSamples returns the samples of a unit from its file, if they have the unit's key.
func readSamples(dir string, unit *stages.Unit) ([]estimator.Sample, bool) {
	var s saved
	if folder.ReadJSON(dir, &s, samplesDir, unit.Name+".json") != nil || s.Description != unit.Key {
		return nil, false
	}
	return s.Samples, true
}

// writeSamples writes the samples of a unit into its file.
func writeSamples(dir string, unit *stages.Unit, samples []estimator.Sample) error {
	raw, err := json.MarshalIndent(saved{unit.Key, samples}, "", "  ")
	if err != nil {
		return fmt.Errorf("record samples: %w", err)
	}
	if err := folder.Write(path(dir, unit), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("record samples: %w", err)
	}
	return nil
}
