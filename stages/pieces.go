package stages

import "github.com/tfexp/tfexp/results/record"

// Pieces is how a stage without a key keeps its work: in pieces that have a key
// each. The plan shows them, and a run makes those that are missing.
type Pieces struct {
	// Title heads the pieces in the plan, as "profiling"; Noun is one of the
	// things that they are made of, as "profiling sample"; Earlier is why a piece
	// is reused, as "sampled earlier".
	Title, Noun, Earlier string
	// List returns the pieces. It is called again when cells were added to the
	// plan: what it returned before comes first then.
	List func(Planning) ([]Piece, error)
	// Find makes a piece known from what the cache kept of it, or, where kept is
	// nil, from the files in the experiment's folder. It reports whether the piece
	// is there.
	Find func(p Planning, piece Piece, kept []byte) bool
}

// Piece is a piece of a stage's work.
type Piece struct {
	// Name is that of the piece among those of its stage.
	Name string
	// Family is what the newest such piece is found by, to say what has changed
	// since; empty means Name.
	Family string
	// Key describes all that the piece depends on, one labelled value a line.
	Key string
	// Text says what is made, in words.
	Text string
	// Count is of how many things (Pieces.Noun) it consists.
	Count int
	// ForCells is set for a piece that is only made when a cell that runs needs it.
	ForCells bool
	// Details is what plan --json shows of it: a struct, or a map.
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
	// Past calls visit for each finished cell that ran for real and is not in the
	// plan: those of the experiments beside this one, and those that only the cache
	// still has. It goes on while visit returns true.
	Past func(visit func(PastCell) bool)
}

// PastCell is a cell that finished earlier.
type PastCell struct {
	From *record.Experiment
	record.Cell
	// Key is the description of its key.
	Key string
}
