package watch

import (
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/results/record"
)

// Headline is the report's headline for the results so far.
type Headline struct {
	Sentence string     `json:"sentence"`
	Columns  []string   `json:"columns"`
	Rows     [][]string `json:"rows"`
	Note     string     `json:"note,omitempty"` // about the table
}

// headlineCache is the latest headline of an experiment.
type headlineCache struct {
	answer *Headline // nil: not computed yet
	cells  int       // number of complete cells at that time
	busy   bool      // whether a new headline is being computed
	at     time.Time // when the last computation began
	took   time.Duration
}

// refreshPauseFactor is the least pause between two computations, as a multiple of the time that one takes.
const refreshPauseFactor = 20

// headlineSlot allows one computation of a headline at a time.
var headlineSlot = make(chan struct{}, 1)

// refreshHeadline computes the headline again in the background if cells were added. The caller must hold x.mu.
func (x *experiment) refreshHeadline(cells int) {
	a := &x.answers
	if cells == 0 || a.busy || cells == a.cells && a.answer != nil || time.Since(a.at) < refreshPauseFactor*a.took {
		return
	}
	a.busy, a.at = true, time.Now()
	go func() {
		headlineSlot <- struct{}{}
		began := time.Now()
		answer := readHeadline(x.dir)
		took := time.Since(began)
		<-headlineSlot
		x.mu.Lock()
		defer x.mu.Unlock()
		x.answers = headlineCache{answer: answer, cells: cells, at: x.answers.at, took: took}
	}()
}

// readHeadline returns the headline of a folder of results. It is empty if the results cannot be read yet.
func readHeadline(dir string) *Headline {
	e, err := record.Open(dir)
	if err != nil {
		return &Headline{}
	}
	h, err := states.Headline(e)
	if err != nil {
		return &Headline{}
	}
	return &Headline{Sentence: h.Sentence, Columns: h.Table.Header(), Rows: h.Table.Rows, Note: h.Note}
}
