// Package stages defines the stages of a run and their registry. Each stage is a package in a subfolder, which
// registers it; package stages/all links them in. The pipeline sorts the stages by inputs and outputs, runs them and
// stores their results; it does not depend on particular stages.
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

// Artifact is a kind of output of stages that other stages can read.
type Artifact string

// The artifacts of tfexp's own stages. Further stages may write others.
const (
	Samples   Artifact = "samples"   // measurements of short runs of jobs
	Estimates Artifact = "estimates" // estimates.csv and samples.csv
	Cells     Artifact = "cells"     // the folders of cells
	Twins     Artifact = "twins"     // the simulations of real cells
	// RunSummary is run.json with the outcome of the run. The pipeline writes it after all stages that do not read it,
	// directly or through their inputs.
	RunSummary Artifact = "ending"
	Tables     Artifact = "tables"   // jobs.csv, metrics.csv, comparisons.csv and others
	Pictures   Artifact = "pictures" // plots/
	// ExtraTables are further tables that any stage may write for pictures and the report. There may be none.
	ExtraTables Artifact = "findings"
	// Sections are sections of the report (see analysis.Part). Any stage may write them; there may be none.
	Sections Artifact = "sections"
	Report   Artifact = "report" // report.html
)

// Stage is one step of a run.
type Stage struct {
	Name string
	// Reads and Writes are its inputs and outputs: it runs after all stages that write its inputs.
	Reads, Writes []Artifact
	// Files are its output files and folders in the experiment's folder.
	Files []string
	// More returns further files, which features register; it may be nil.
	More func() []string
	// Block is a block that the stage adds to the language; it may be nil. Its values are in Run.Settings and in the
	// stage's key.
	Block *schema.Block
	// Key returns everything that its files depend on, except the artifacts that it reads. The stage runs again only if
	// these change. A stage without Key stores its work in pieces (samples, cells), and always runs to find missing
	// pieces.
	Key func(*Run) ([]KeyLine, error)
	// OutputKey describes the outputs of a stage without Key, after its run. Stages that read them run again if it
	// changes. It may be nil.
	OutputKey func(*Run) ([]KeyLine, error)
	// Pieces describes how a stage without Key stores its work; nil if the stage itself finds missing parts.
	Pieces *PieceStore
	// LoadPast loads the data of earlier runs that the stage uses, while the plan is made. It may be nil.
	LoadPast func(Planning)
	// Predict simulates a task without recording it, for stages that write cells.
	Predict func(context.Context, Task) (scheduler.Outcome, error)
	// Idle reports whether a stage with Key has nothing to do except to delete files of an earlier run. It then runs
	// without being shown. It may be nil.
	Idle func(*Run) bool
	// Always is set if the stage also runs after another stage failed or the run was interrupted, with the finished
	// results.
	Always bool
	// Run does the work. Its error ends the run, except if Always is set.
	Run func(context.Context, *Run) error
}

// AllFiles returns the output files of the stage.
func (s *Stage) AllFiles() []string {
	if s.More == nil {
		return s.Files
	}
	return slices.Concat(s.Files, s.More())
}

// KeyLine is a labeled value in a key.
type KeyLine = schema.KeyLine

var registry = schema.NewRegistry("stages: stage", func(s *Stage) string { return s.Name }, schema.Unranked)

// Register registers a stage. It panics if the stage is incomplete or its name is taken.
func Register(s *Stage) *Stage {
	if s.Run == nil || len(s.Writes) == 0 {
		panic(fmt.Sprintf("stages: stage %q lacks what it writes, or its work", s.Name))
	}
	if s.Block != nil {
		schema.Bring(s.Name, s.Block)
	}
	return registry.Add(s)
}

// Find returns the stage of this name, or nil.
func Find(name string) *Stage {
	s, _ := registry.Find(name)
	return s
}

// Writer returns the name of the stage that writes an artifact; of several, the first by name. It is empty if no stage
// does.
func Writer(a Artifact) string {
	names := registry.Names(func(s *Stage) bool { return slices.Contains(s.Writes, a) })
	return strings.Join(names[:min(len(names), 1)], "")
}

// Order returns the registered stages in the order in which they run: each after the writers of its inputs, and readers
// of RunSummary last; otherwise by name. The error names an artifact that no stage writes, or a cycle.
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

// needs reports whether a stage reads an artifact that w writes.
func (s *Stage) needs(w *Stage) bool {
	return slices.ContainsFunc(s.Reads, func(a Artifact) bool { return slices.Contains(w.Writes, a) })
}

// AfterEnding reports whether a stage reads RunSummary, directly or through its inputs.
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

// SamplesFailed is the error for a job whose samples all failed: its cells would fail as well.
type SamplesFailed struct {
	Job, Sample string
	Cause       error
	Log         string // last lines of the log
}

func (e *SamplesFailed) Error() string {
	text := fmt.Sprintf("every sample of job %s failed: %v", e.Job, e.Cause)
	if e.Log != "" {
		text += "; its last lines:\n  │ " + strings.ReplaceAll(e.Log, "\n", "\n  │ ")
	}
	return text
}

func (e *SamplesFailed) Unwrap() error { return e.Cause }

// PieceStore describes how a stage without Key stores its work, in pieces with a key each. The plan shows the pieces,
// and a run makes the missing ones.
type PieceStore struct {
	// Title is the heading of the pieces in the plan, such as "profiling". Noun names the things in a piece, such as
	// "profiling sample". Earlier is the reason for reusing a piece, such as "sampled earlier".
	Title, Noun, Earlier string
	// List returns the pieces. It is called again after cells were added to the plan; the earlier pieces must then come
	// first.
	List func(Planning) ([]Piece, error)
	// Find loads a piece from its bytes in the cache; if kept is nil, from files in the experiment's folder. It reports
	// whether the piece was found.
	Find func(p Planning, piece Piece, kept []byte) bool
}

// Piece is a separately stored part of a stage's work.
type Piece struct {
	// Name is the name of the piece in its stage.
	Name string
	// Family groups pieces whose keys are compared: the plan lists the changes since the newest piece of the family.
	// Empty means Name.
	Family string
	// Key describes everything that the piece depends on, with one labeled value in each line.
	Key string
	// Text describes the piece for people.
	Text string
	// Count is the number of things (PieceStore.Noun) in the piece.
	Count int
	// ForCells is set if the piece is made only when a cell that runs needs it.
	ForCells bool
	// Details are further fields in the output of plan --json: a struct or a map.
	Details any
}

// PlannedPiece is a piece, and whether the run must make it.
type PlannedPiece struct {
	Piece
	// Make is set if the piece must be made.
	Make bool
}

// Planning is an experiment while its plan is made, before anything runs.
type Planning struct {
	// Dir is the experiment's folder of results; it may not exist yet.
	Dir string
	Experiment
	Sampling
	PastRuns
	// Past calls visit for each finished real cell outside the plan, until visit returns false. These are cells of
	// experiments in sibling folders, and cells that only the cache still has.
	Past func(visit func(PastCell) bool)
}

// PastCell is a cell of an earlier run.
type PastCell struct {
	From *record.Experiment
	record.Cell
	// Host is the fingerprint of its machine. Ran returns the name of a job block's program and its length.
	Host string
	Ran  func(block string) (name string, length int)
}
