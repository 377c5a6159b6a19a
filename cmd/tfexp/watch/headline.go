package watch

import (
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/results/record"
)

// Headline is the headline of the report on the results so far.
type Headline struct {
	Sentence string     `json:"sentence"`
	Columns  []string   `json:"columns"`
	Rows     [][]string `json:"rows"`
}

// headlineCache is the latest headline of an experiment, and when it was computed.
type headlineCache struct {
	answer *Headline // nil: not known yet
	cells  int       // complete ones that it is of
	busy   bool      // it is being found
	at     time.Time // when that was begun last
	took   time.Duration
}

// refreshPauseFactor is the pause before the next look, as a multiple of the time that a headline takes.
const refreshPauseFactor = 20

// headlineSlot bounds the answers that are found at a time.
var headlineSlot = make(chan struct{}, 1)

// refreshHeadline computes the headline again in the background when cells were added. The caller holds x.mu.
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

// readHeadline is the headline of a folder of results; an empty one where it cannot be read yet.
func readHeadline(dir string) *Headline {
	e, err := record.Open(dir)
	if err != nil {
		return &Headline{}
	}
	h, err := states.Headline(e)
	if err != nil {
		return &Headline{}
	}
	return &Headline{Sentence: h.Sentence, Columns: h.Table.Header(), Rows: h.Table.Rows}
}
