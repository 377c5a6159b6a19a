package watch

import (
	"time"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// WatchAnswer is the answer of the results so far: the headline of the report.
type WatchAnswer struct {
	Sentence string     `json:"sentence"`
	Columns  []string   `json:"columns"`
	Rows     [][]string `json:"rows"`
}

// answering is the latest answer of an experiment, and when it was computed.
type answering struct {
	answer *WatchAnswer // nil: not known yet
	cells  int          // complete ones that it is of
	busy   bool         // it is being found
	at     time.Time    // when that was begun last
	took   time.Duration
}

// rest is the pause before the next look, as a multiple of the time that an answer takes.
const rest = 20

// one bounds the answers that are found at a time.
var one = make(chan struct{}, 1)

// ask computes the answer again in the background when cells were added. The caller holds x.mu.
func (x *experiment) ask(cells int) {
	a := &x.answers
	if cells == 0 || a.busy || cells == a.cells && a.answer != nil || time.Since(a.at) < rest*a.took {
		return
	}
	a.busy, a.at = true, time.Now()
	go func() {
		one <- struct{}{}
		began := time.Now()
		answer := answerOf(x.dir)
		took := time.Since(began)
		<-one
		x.mu.Lock()
		defer x.mu.Unlock()
		x.answers = answering{answer: answer, cells: cells, at: x.answers.at, took: took}
	}()
}

// answerOf is the headline of a folder of results; an empty one where it cannot be read yet.
func answerOf(dir string) *WatchAnswer {
	e, err := record.Open(dir)
	if err != nil {
		return &WatchAnswer{}
	}
	h, err := analysis.Headline(e)
	if err != nil {
		return &WatchAnswer{}
	}
	return &WatchAnswer{Sentence: h.Sentence, Columns: h.Table.Header(), Rows: h.Table.Rows}
}
