package experiment

import "github.com/tfexp/tfexp/scheduler"

// Parts are the values that features attach to a block, in the order in which the features are registered. The type of
// a part belongs to its feature. The stages and the pipeline ask by interfaces which values a part changes (see package
// stages).
type Parts []any

// PartOf returns the part with type T; false if the block has no such part.
func PartOf[T any](of Parts) (part T, ok bool) {
	for _, p := range of {
		if part, ok = p.(T); ok {
			return part, true
		}
	}
	return part, false
}

// EachPart calls visit for each part that implements T.
func EachPart[T any](of Parts, visit func(T)) {
	for _, p := range of {
		if part, ok := p.(T); ok {
			visit(part)
		}
	}
}

// RequestPart is a part of a job, of its run time or of a submit block. It changes the scheduler's view of the jobs.
type RequestPart interface{ Request(*scheduler.Job) }

// SeveralPart is a part of a job whose program is started several times, as separate processes that start together.
type SeveralPart interface {
	// Fewest returns the part with the fewest programs that the job can continue with, and the threads that these use.
	Fewest() (left SeveralPart, threads int)
}

// ProbePart is a part of an experiment that makes cells beyond the matrix, all on the same hardware.
type ProbePart interface {
	// Probes returns cells that the checks before a run examine in place of all cells of the part.
	Probes() []Cell
}

// EachProbe calls visit for the probes of all parts of the experiment.
func (s *Spec) EachProbe(visit func(Cell)) {
	EachPart(s.Parts, func(p ProbePart) {
		for _, c := range p.Probes() {
			visit(c)
		}
	})
}

// RepeatedPart is a part of an experiment. Repeated reports whether the part makes replicates differ.
type RepeatedPart interface{ Repeated() bool }

func (s *Spec) repeated() (repeated bool) {
	EachPart(s.Parts, func(p RepeatedPart) { repeated = repeated || p.Repeated() })
	return repeated
}

// SizePart is a part of an experiment that adds to the matrix. Size says in words how much, for the plan.
type SizePart interface{ Size(*Spec) string }
