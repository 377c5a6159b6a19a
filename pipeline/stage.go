package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// chain runs the stages in order.
type chain struct {
	*run
	seen *stages.Run
	// digests are the hashes of the descriptions of the artifacts made so far, by artifact and by the name of the
	// stage that wrote it.
	digests map[stages.Artifact]map[string]string
	// broken are the artifacts that are missing because a stage failed. err joins the errors of the stages.
	broken map[stages.Artifact]bool
	err    error
	// ended is set when run.json says how the run ended; state is that end.
	ended bool
	state string
	plan  string // the hash of the plan with the first `cells` cells; searches add cells later
	cells int
}

// all runs the stages and returns the state in which the run ended.
func (c *chain) all(ctx context.Context) (state string, err error) {
	for _, s := range c.stages {
		if stages.AfterEnding(s) && !c.ended {
			c.end(ctx)
		}
		if err := c.one(ctx, s); err != nil {
			c.fail(ctx, s, err)
		}
	}
	if !c.ended {
		c.end(ctx)
	}
	return c.state, c.err
}

// end writes to run.json how the run ended. The stages that follow show it.
func (c *chain) end(ctx context.Context) {
	if c.err != nil && ctx.Err() != nil {
		c.err = ErrInterrupted
	}
	c.state = "finished"
	switch {
	case errors.Is(c.err, ErrInterrupted):
		c.state = "interrupted"
	case errors.As(c.err, new(*Detached)):
		c.state = "queued"
	case c.err != nil || c.outcome.Failed > 0:
		c.state = "failed"
	}
	if gone := c.gone(); gone != nil {
		c.err, c.state = gone, "failed"
	} else {
		c.err = errors.Join(c.err, c.finish(c.state), c.shards.WriteIndex()) // later stages find cells by it
	}
	c.ended = true
	clear(c.broken) // later stages also show the output of finished stages
}

// fail notes that a stage failed. Stages that read its output do not run. An error that two stages return is reported
// once. If the results folder is gone, only that is reported.
func (c *chain) fail(ctx context.Context, s *stages.Stage, err error) {
	c.without(s)
	if gone := c.gone(); gone != nil {
		c.err, c.state = gone, "failed"
		return
	}
	switch {
	case !c.ended:
	case ctx.Err() != nil && c.state != "interrupted":
		c.state, err = "interrupted", ErrInterrupted
	default:
		c.state = "failed"
	}
	if c.err == nil || !errors.Is(c.err, err) && !strings.Contains(c.err.Error(), err.Error()) {
		c.err = errors.Join(c.err, err)
	}
}

// one runs a stage, unless its files are up to date or its input is missing.
func (c *chain) one(ctx context.Context, s *stages.Stage) error {
	lacks := slices.ContainsFunc(s.Reads, func(a stages.Artifact) bool { return c.broken[a] })
	switch {
	case !s.Always && (lacks || ctx.Err() != nil):
		c.without(s)
		return ctx.Err()
	case lacks && c.ended:
		c.without(s)
		return nil
	case s.Always && (!c.ended || c.state == "interrupted"):
		ctx = context.WithoutCancel(ctx)
	}
	if s.Key == nil {
		if err := errors.Join(s.Run(ctx, c.seen), c.cache.Flush()); err != nil {
			return err
		}
		c.piecesDone(s)
		return c.describe(s)
	}
	return c.keyed(ctx, s)
}

// without marks the output of a stage as missing.
func (c *chain) without(s *stages.Stage) {
	for _, a := range s.Writes {
		c.broken[a] = true
	}
}

// describe stores the hash of the output of a stage that has no key.
func (c *chain) describe(s *stages.Stage) error {
	k := store.NewKey(s.Name)
	c.addSettings(k, s)
	if s.OutputKey != nil {
		lines, err := s.OutputKey(c.seen)
		if err != nil {
			return err
		}
		k.AddAll(lines)
	}
	c.left(s, k.Hash())
	return nil
}

func (c *chain) left(s *stages.Stage, hash string) {
	for _, a := range s.Writes {
		if c.digests[a] == nil {
			c.digests[a] = map[string]string{}
		}
		c.digests[a][s.Name] = hash
	}
}

// addSettings adds to k the values of the blocks that belong to a stage.
func (c *chain) addSettings(k *store.Key, s *stages.Stage) {
	for _, v := range c.seen.Settings(s.Name) {
		k.AddAll(v.Lines(""))
	}
}

// keyed runs a stage that has a key, unless its files were made under the same key.
func (c *chain) keyed(ctx context.Context, s *stages.Stage) error {
	k, err := c.key(s)
	if err != nil {
		return err
	}
	c.left(s, k.Hash())
	if c.outcome.Ran == 0 && c.there(s, k) {
		return c.journal.Add(store.JournalEntry{Event: "stage_end", Unit: s.Name, State: "reused", Key: k.Hash()})
	}
	began := time.Now()
	shown := s.Idle == nil || !s.Idle(c.seen)
	if shown {
		c.Observe(stages.Progress{Kind: stages.StageStart, Stage: s.Name})
	}
	err = s.Run(ctx, c.seen)
	if n := c.seen.TakeMade(); shown {
		c.Observe(stages.Progress{
			Kind: stages.StageEnd, Stage: s.Name, Done: n, Total: n, Elapsed: time.Since(began), Err: err,
		})
	}
	if err != nil {
		return err
	}
	e := store.Entry{
		Stage: s.Name, Unit: stageUnit(s), Description: k.Description(), Created: time.Now(),
		Seconds: time.Since(began).Seconds(), Files: c.files(s),
	}
	if err := c.cache.Put(k, e, nil); err != nil {
		return err
	}
	return c.journal.Add(store.JournalEntry{
		Event: "stage_end", Unit: s.Name, State: "finished", Seconds: time.Since(began).Seconds(), Key: k.Hash(),
	})
}

func stageUnit(s *stages.Stage) string { return "stage " + s.Name }

// key describes everything that the files of a stage depend on: the version of tfexp, the plan, the stage's input,
// and lines that the stage adds.
func (c *chain) key(s *stages.Stage) (*store.Key, error) {
	k := store.NewKey(s.Name)
	k.Add("version", c.options.Version)
	if c.plan == "" || c.cells != len(c.Cells) {
		plan := c.Plan.Plan
		plan.PredictedSeconds = 0 // the output does not depend on predictions
		plan.Cells = slices.Clone(plan.Cells)
		for i := range plan.Cells {
			plan.Cells[i].PredictedSeconds = 0
		}
		raw, err := json.Marshal(plan.File())
		if err != nil {
			return nil, fmt.Errorf("describe the plan: %w", err)
		}
		c.plan, c.cells = store.HashOf(string(raw)), len(c.Cells)
	}
	k.Add("plan", c.plan)
	lines, err := s.Key(c.seen)
	if err != nil {
		return nil, err
	}
	k.AddAll(lines)
	c.addSettings(k, s)
	for _, a := range s.Reads {
		for _, writer := range slices.Sorted(maps.Keys(c.digests[a])) {
			k.Add("reads."+string(a), c.digests[a][writer])
		}
	}
	return k, nil
}

// files returns the files and folders that a stage has written, with their sizes. The size of a folder is the sum of the
// sizes of its files.
func (c *chain) files(s *stages.Stage) []record.File {
	var files []record.File
	for _, name := range s.AllFiles() {
		info, err := folder.Stat(c.Dir, name)
		if err != nil {
			continue
		}
		f := record.File{Name: name, Size: info.Size()}
		if info.IsDir() {
			f.Size = 0
			entries, _ := folder.ReadDir(filepath.Join(c.Dir, name))
			for _, e := range entries {
				if info, err := e.Info(); err == nil {
					f.Size += info.Size()
				}
			}
		}
		files = append(files, f)
	}
	return files
}

// there reports whether the files of a stage were made under the key k and have their sizes. A power cut may have
// truncated one: they are not all synced.
func (c *chain) there(s *stages.Stage, k *store.Key) bool {
	there := false
	c.cache.View(func(v store.View) {
		last, ok := v.Last(stageUnit(s))
		there = ok && last.Description == k.Description() && slices.Equal(last.Files, c.files(s))
	})
	return there
}

// anyBroken reports whether a stage that ran after the end of the run has failed.
func (c *chain) anyBroken() bool { return len(c.broken) > 0 }

// planPieces lists the pieces of work of the stages, and finds out which exist already and which the run makes. It is
// called again when cells were added. Known pieces keep their state, unless a new cell needs a piece that was not
// needed before.
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

// unneeded is the reason for not making a missing piece.
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
		w.Reason = "run again on request"
	case w.ForCells && !p.needed[w.hash]:
		w.Reuse, w.Reason = true, unneeded
	case ok:
		w.Changes = store.Diff(e.Description, w.Key)
		w.Reason = store.Reason(w.Changes)
	default:
		w.Reason = "new"
	}
}

// cacheUnit is the name under which the cache finds the newest piece of the same family.
func (w *PieceWork) cacheUnit() string {
	if w.Family != "" {
		return w.Stage.Name + " " + w.Family
	}
	return w.Stage.Name + " " + w.Name
}

// planning returns the view of the experiment that stages get during planning.
func (p *Plan) planning(v store.View) stages.Planning {
	x := ended{p.x, p}
	return stages.Planning{
		Dir: p.Dir, Experiment: x, Sampling: x, PastRuns: x,
		Past: func(visit func(stages.PastCell) bool) { p.past(v, visit) },
	}
}

// PlannedPieces implements stages.Run.
func (r *run) PlannedPieces(stage string) []stages.PlannedPiece {
	var pieces []stages.PlannedPiece
	for _, w := range r.Plan.Pieces {
		if w.Stage.Name == stage {
			pieces = append(pieces, stages.PlannedPiece{Piece: w.Piece, Make: !w.Reuse && !w.done})
		}
	}
	return pieces
}

// KeepPiece implements stages.Run.
func (r *run) KeepPiece(stage string, piece stages.Piece, made []byte, seconds float64) error {
	w := PieceWork{Stage: stages.Find(stage), Piece: piece}
	return r.cache.Put(store.KeyOf(piece.Key), store.Entry{
		Stage: stage, Unit: w.cacheUnit(), Description: piece.Key, Created: time.Now(), Seconds: seconds,
	}, made)
}

// PredictReal implements stages.Run.
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

// piecesDone marks the pieces of a stage that has run as done, so that failed pieces are not tried again.
func (r *run) piecesDone(s *stages.Stage) {
	for i := range r.Plan.Pieces {
		if w := &r.Plan.Pieces[i]; w.Stage == s && !w.Reuse {
			w.done = true
		}
	}
}

// makeMore makes the pieces that newly added cells need. It runs the stages that make these pieces, and the stages
// that read their output.
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
