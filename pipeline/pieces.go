package pipeline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages"
)

// planPieces asks the stages for the pieces of their work, and finds out which are
// there already, and which a run makes. It is called again when cells were added:
// what is known of a piece stays, unless a new cell needs it.
func (p *Plan) planPieces(v store.View) error {
	var all []PieceWork
	for _, s := range p.stages {
		if s.Pieces == nil {
			continue
		}
		pieces, err := s.Pieces.List(p.planning(v))
		if err != nil {
			return fmt.Errorf("plan %s: %w", s.Name, err)
		}
		known := map[string]*PieceWork{}
		for i, w := range p.Pieces {
			if w.Stage == s {
				known[w.hash] = &p.Pieces[i]
			}
		}
		for _, piece := range pieces {
			w := PieceWork{Stage: s, Piece: piece, hash: store.HashOf(piece.Key)}
			if was := known[w.hash]; was != nil && (was.done || was.Reason != unneeded) {
				w = *was
			} else {
				p.lookUpPiece(v, &w)
			}
			all = append(all, w)
		}
	}
	p.Pieces = all
	return nil
}

// unneeded is why a piece that is not there is not made.
const unneeded = "no cell that runs needs it"

func (p *Plan) lookUpPiece(v store.View, w *PieceWork) {
	if !p.options.Fresh {
		kept, ok := v.Output(w.hash)
		found := func(kept []byte) bool { return w.Stage.Pieces.Find(p.planning(v), w.Piece, kept) }
		if ok && found(kept) || found(nil) {
			w.Reuse, w.Reason = true, w.Stage.Pieces.Earlier
			return
		}
	}
	switch e, ok := v.Last(w.cacheUnit()); {
	case p.options.Fresh:
		w.Reason = "asked to run afresh"
	case w.ForCells && !p.needed[w.hash]:
		w.Reuse, w.Reason = true, unneeded
	case ok:
		w.Changes = store.Diff(e.Description, w.Key)
		w.Reason = store.Reason(w.Changes)
	default:
		w.Reason = "new"
	}
}

// cacheUnit is what the newest piece of this sort is found by in the cache.
func (w *PieceWork) cacheUnit() string {
	if w.Family != "" {
		return w.Stage.Name + " " + w.Family
	}
	return w.Stage.Name + " " + w.Name
}

// planning is the experiment as stages see it while it is planned.
func (p *Plan) planning(v store.View) stages.Planning {
	return stages.Planning{
		Dir: p.Dir, Experiment: experiment{p.x, p},
		Past: func(visit func(stages.PastCell) bool) { p.past(v, visit) },
	}
}

// Pieces implements stages.Pipeline.
func (r *run) Pieces(stage string) []stages.PlannedPiece {
	var pieces []stages.PlannedPiece
	for _, w := range r.Plan.Pieces {
		if w.Stage.Name == stage {
			pieces = append(pieces, stages.PlannedPiece{Piece: w.Piece, Make: !w.Reuse && !w.done})
		}
	}
	return pieces
}

// KeepPiece implements stages.Pipeline.
func (r *run) KeepPiece(stage string, piece stages.Piece, made []byte, seconds float64) error {
	w := PieceWork{Stage: stages.Find(stage), Piece: piece}
	return r.cache.Put(store.KeyOf(piece.Key), store.Entry{
		Stage: stage, Unit: w.cacheUnit(), Description: piece.Key, Created: time.Now(), Seconds: seconds,
	}, made)
}

// PredictReal implements stages.Pipeline.
func (r *run) PredictReal(ctx context.Context) (time.Duration, error) {
	if err := r.predict(ctx, 0); err != nil {
		return 0, err
	}
	var sum time.Duration
	for i, w := range r.Work {
		if r.Cells[i].Real() {
			sum += w.Predicted
		}
	}
	return sum, nil
}

// piecesDone notes that a stage has run: what it could not make is not tried again.
func (r *run) piecesDone(s *stages.Stage) {
	for i := range r.Plan.Pieces {
		if w := &r.Plan.Pieces[i]; w.Stage == s && !w.Reuse {
			w.done = true
		}
	}
}

// makeMore makes the pieces that cells need which were added to the plan: it runs
// the stages again that make them, and those that read what these write.
func (r *run) makeMore(ctx context.Context) error {
	written := map[stages.Artifact]bool{}
	for _, s := range r.stages {
		if slices.Contains(s.Writes, stages.Cells) {
			return nil
		}
		lacks := func(w PieceWork) bool { return w.Stage == s && !w.Reuse && !w.done }
		reads := func(a stages.Artifact) bool { return written[a] }
		if !slices.ContainsFunc(r.Plan.Pieces, lacks) && !slices.ContainsFunc(s.Reads, reads) {
			continue
		}
		if err := r.chain.one(ctx, s); err != nil {
			return err
		}
		for _, a := range s.Writes {
			written[a] = true
		}
	}
	return nil
}
