package experiment

import "github.com/tfexp/tfexp/scheduler"

// Parts are the values that features attach to a block, in the order in which these are registered. Each part has a
// type of its feature. Its methods say which values it changes: stages and pipeline ask for the methods that they know
// (see package stages).
type Parts []any

// PartOf returns the part of a type; false where the block has none.
func PartOf[T any](of Parts) (part T, ok bool) {
	for _, p := range of {
		if part, ok = p.(T); ok {
			return part, true
		}
	}
	return part, false
}

// EachPart calls visit for each part that has the methods of T.
func EachPart[T any](of Parts, visit func(T)) {
	for _, p := range of {
		if part, ok := p.(T); ok {
			visit(part)
		}
	}
}

// RequestPart is a part of a job, of its run time or of a submit block that changes the scheduler's view of jobs.
type RequestPart interface{ Request(*scheduler.Job) }

// SeveralPart is a part of a job whose program runs several times, as separate programs that start together.
type SeveralPart interface {
	InParts()
	// Fewest is the same when the job has lost all that it can lose while it runs, and the threads that are left.
	Fewest() (left SeveralPart, threads int)
}

// ProbePart is a part of a file with cells beyond the matrix, all on the same hardware.
type ProbePart interface {
	// Probes are the cells of the source that are checked before a run.
	Probes() []Cell
}

// EachProbe calls visit for the probes of all parts of the file.
func (s *Spec) EachProbe(visit func(Cell)) {
	EachPart(s.Parts, func(p ProbePart) {
		for _, c := range p.Probes() {
			visit(c)
		}
	})
}

// RepeatedPart is a part of a file that makes the experiment's replicates differ.
type RepeatedPart interface{ Repeated() bool }

func (s *Spec) repeated() (repeated bool) {
	EachPart(s.Parts, func(p RepeatedPart) { repeated = repeated || p.Repeated() })
	return repeated
}

// SizePart is a part of a file that says in words how much it adds to the matrix.
type SizePart interface{ Size(*Spec) string }
