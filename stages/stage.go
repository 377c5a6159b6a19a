// Package stages defines the stages of a run, and holds the registry of
// stages. A stage is a subfolder: its package registers it, and package
// stages/all links it in. The pipeline orders the stages by their inputs and
// outputs, runs them, and keeps their results; it knows none by name.
package stages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// An Artifact is something that stages leave for others.
type Artifact string

// The artifacts of the stages that tfexp has. Another stage may write others.
const (
	Samples   Artifact = "samples"   // measured short runs of the jobs
	Estimates Artifact = "estimates" // estimates.csv, samples.csv
	Cells     Artifact = "cells"     // the folders of the cells
	Twins     Artifact = "twins"     // the simulations of real cells
	// RunSummary is run.json with the outcome of the run. The pipeline writes it after
	// all stages that do not read it, directly or through their inputs.
	RunSummary Artifact = "ending"
	Tables     Artifact = "tables"   // jobs.csv, metrics.csv, comparisons.csv and others
	Pictures   Artifact = "pictures" // plots/
	// ExtraTables are further tables, which any stage may leave for pictures and the report; there need not be any.
	ExtraTables Artifact = "findings"
	// Sections are the parts of the report (see analysis.Part). Any stage may write them; there may be none.
	Sections Artifact = "sections"
	Report   Artifact = "report" // report.html
)

// Stage is one step of a run.
type Stage struct {
	Name string
	// Reads and Writes are its inputs and outputs: it runs after all stages that
	// write its inputs.
	Reads, Writes []Artifact
	// Files are its output files in the experiment's folder, or folders in it.
	Files []string
	// More are further files, registered by features; it may be nil.
	More func() []string
	// Block is a block of the language that the stage brings; it may be nil. Its
	// values are in Run.Settings, and part of the stage's key.
	Block *schema.Block
	// Key describes all that its files depend on, except the artifacts that it
	// reads. While all these are unchanged, the stage is not run again. A stage
	// without a key keeps its work in smaller pieces (samples, cells), and always
	// runs, to find out which of them are missing.
	Key func(*Run) ([]KeyLine, error)
	// OutputKey describes the outputs of a stage without a key, after its run: the
	// stages that read them are reused only while they are unchanged. It may be
	// nil.
	OutputKey func(*Run) ([]KeyLine, error)
	// PieceStore is how a stage without a key keeps its work; nil for one that finds
	// the missing parts itself.
	Pieces *PieceStore
	// LoadPast loads the stage's knowledge from earlier runs, when the plan is made.
	// It may be nil.
	LoadPast func(Planning)
	// Predict simulates a task without recording it, for stages that write cells.
	Predict func(context.Context, Task) (scheduler.Outcome, error)
	// Idle reports whether the experiment leaves a stage with a key nothing to do except to remove the files of an
	// earlier run: it then runs without being reported. It may be nil.
	Idle func(*Run) bool
	// Always is set when it also runs after a stage that failed or was
	// interrupted, on the finished results.
	Always bool
	// Run does the work. Its error ends the run, except for stages with Always.
	Run func(context.Context, *Run) error
}

// AllFiles returns the output files of the stage.
func (s *Stage) AllFiles() []string {
	if s.More == nil {
		return s.Files
	}
	return slices.Concat(s.Files, s.More())
}

// KeyLine is a labeled value of a key.
type KeyLine = schema.KeyLine

var registry = schema.NewRegistry("stages: stage", func(s *Stage) string { return s.Name }, schema.Unranked)

// Register adds a stage. It panics when the stage is not whole or its name is taken.
func Register(s *Stage) *Stage {
	if s.Run == nil || len(s.Writes) == 0 {
		panic(fmt.Sprintf("stages: stage %q lacks what it writes, or its work", s.Name))
	}
	if s.Block != nil {
		schema.Bring(s.Name, s.Block)
	}
	return registry.Add(s)
}

// Find returns the stage of a name, or nil.
func Find(name string) *Stage {
	s, _ := registry.Find(name)
	return s
}

// Writer returns the name of the stage that writes an artifact: the first in the
// order of their names. It is empty without one.
func Writer(a Artifact) string {
	names := registry.Names(func(s *Stage) bool { return slices.Contains(s.Writes, a) })
	return strings.Join(names[:min(len(names), 1)], "")
}

// Order returns the registered stages in the order in which they run: each after
// the writers of its inputs, readers of the run's ending last, and else by name.
// The error names an artifact that no stage writes, or a circle.
func Order() ([]*Stage, error) { return order(registry.All()) }

func order(all []*Stage) ([]*Stage, error) {
	for _, s := range all {
		for _, a := range s.Reads {
			written := slices.ContainsFunc(all, func(w *Stage) bool { return slices.Contains(w.Writes, a) })
			if a != RunSummary && a != Sections && a != ExtraTables && !written {
				return nil, fmt.Errorf("the stage %q reads %s, which no stage writes", s.Name, a)
			}
		}
	}
	late := afterEnding(all)
	left := slices.SortedFunc(slices.Values(all), func(a, b *Stage) int {
		switch {
		case late[a] == late[b]:
			return cmp.Compare(a.Name, b.Name)
		case late[a]:
			return 1
		}
		return -1
	})
	var ordered []*Stage
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(s *Stage) bool {
			return !slices.ContainsFunc(left, func(w *Stage) bool { return w != s && s.needs(w) })
		})
		if next < 0 {
			return nil, fmt.Errorf("the stages %q and %q wait for each other", left[0].Name, left[len(left)-1].Name)
		}
		ordered = append(ordered, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return ordered, nil
}

// needs reports whether a stage reads an artifact that another one writes.
func (s *Stage) needs(w *Stage) bool {
	return slices.ContainsFunc(s.Reads, func(a Artifact) bool { return slices.Contains(w.Writes, a) })
}

// AfterEnding reports whether a stage reads how the run ended, itself or through
// its inputs.
func AfterEnding(s *Stage) bool { return afterEnding(registry.All())[s] }

func afterEnding(all []*Stage) map[*Stage]bool {
	late := map[*Stage]bool{}
	for before := -1; before < len(late); {
		before = len(late)
		for _, s := range all {
			if slices.Contains(s.Reads, RunSummary) || slices.ContainsFunc(all, func(w *Stage) bool { return late[w] && s.needs(w) }) {
				late[s] = true
			}
		}
	}
	return late
}

// SamplesFailed is the error of a job all of whose samples failed: its cells would fail as well.
type SamplesFailed struct {
	Job, Sample string
	Cause       error
	Log         string // its last lines
}

func (e *SamplesFailed) Error() string {
	text := fmt.Sprintf("every sample of job %s failed: %v", e.Job, e.Cause)
	if e.Log != "" {
		text += "; its last lines:\n  │ " + strings.ReplaceAll(e.Log, "\n", "\n  │ ")
	}
	return text
}

func (e *SamplesFailed) Unwrap() error { return e.Cause }

// Pieces is how a stage without a key keeps its work: in pieces that have a key
// each. The plan shows them, and a run makes the missing ones.
type PieceStore struct {
	// Title heads the pieces in the plan, as "profiling"; Noun names their items,
	// as "profiling sample"; Earlier is the reason for reusing a piece, as
	// "sampled earlier".
	Title, Noun, Earlier string
	// List returns the pieces. It is called again when cells were added to the
	// plan: the earlier pieces come first then.
	List func(Planning) ([]Piece, error)
	// Find makes a piece known from its bytes in the cache, or, where kept is nil,
	// from the files in the experiment's folder. It reports whether the piece is
	// there.
	Find func(p Planning, piece Piece, kept []byte) bool
}

// Piece is a piece of a stage's work.
type Piece struct {
	// Name is the name of the piece in its stage.
	Name string
	// Family identifies the newest such piece, to list the changes since then;
	// empty means Name.
	Family string
	// Key describes all that the piece depends on, one labeled value a line.
	Key string
	// Text describes the piece, in words.
	Text string
	// Count is the number of things (Pieces.Noun) in the piece.
	Count int
	// ForCells is set for a piece that is only made when a cell that runs needs it.
	ForCells bool
	// Details is its entry in plan --json: a struct, or a map.
	Details any
}

// PlannedPiece is a piece as a stage finds it when it runs.
type PlannedPiece struct {
	Piece
	// Make is set when the piece is to be made.
	Make bool
}

// Planning is an experiment while its plan is made, and before anything runs.
type Planning struct {
	// Dir is the experiment's folder of results; it may not be there yet.
	Dir string
	Experiment
	Sampling
	PastRuns
	// Past calls visit for each finished cell that ran for real and is not in the
	// plan: cells of the experiments next to this one, and cells that only the
	// cache still has. It continues while visit returns true.
	Past func(visit func(PastCell) bool)
}

// PastCell is a cell that finished earlier.
type PastCell struct {
	From *record.Experiment
	record.Cell
	// Host is the fingerprint of its machine. Ran returns the name of a job block's program, and its length.
	Host string
	Ran  func(block string) (name string, length int)
}
