package train

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/program"
	"github.com/tfexp/tfexp/results/folder"
)

// reachedFile is the file, next to the checkpoint, with the last step of the training.
const reachedFile = "reached"

// saves knows when and where checkpoints are written.
type saves struct {
	path  string // of the checkpoint; empty: there is no place
	every program.Interval
	clock *clock

	steps  int           // at the last checkpoint
	epochs int           // reported by then
	at     time.Duration // on the clock, of the last checkpoint
	file   *folder.File  // the reachedFile; nil: not open
}

// due reports whether a checkpoint is due after the given steps and epochs.
func (s *saves) due(steps, epochs int) bool {
	switch {
	case s.path == "":
		return false
	case s.every.Steps > 0:
		return steps/s.every.Steps > s.steps/s.every.Steps
	case s.every.Epochs > 0:
		return epochs/s.every.Epochs > s.epochs/s.every.Epochs
	case s.every.Time > 0:
		return s.clock.service()-s.at >= s.every.Time
	}
	return false
}

// done is called when a checkpoint has been written after the given steps and epochs.
func (s *saves) done(steps, epochs int) { s.steps, s.epochs, s.at = steps, epochs, s.clock.service() }

// reached notes that the training has reached a step, so that the attempt after
// a kill knows how much work was lost. It writes 16 bytes, which the kernel
// keeps when the process is killed: the number of steps and the seconds of
// service time.
func (s *saves) reached(steps int, trained time.Duration) {
	if s.path == "" {
		return
	}
	if s.file == nil {
		dir := filepath.Dir(s.path)
		if folder.MkdirAll(dir, 0o755) != nil {
			return
		}
		f, err := folder.OpenFile(filepath.Join(dir, reachedFile), os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return // the lost work is then unknown: no reason to fail
		}
		s.file = f
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(steps))
	binary.LittleEndian.PutUint64(b[8:], math.Float64bits(trained.Seconds()))
	s.file.WriteAt(b[:], 0)
}

// resumed returns the work of the previous attempt after the checkpoint st; st is the zero
// state if there is no checkpoint. It returns false if that work was not noted, or if no
// work is lost and no checkpoint was asked for.
func (s *saves) resumed(st state, epochs int) (contract.Resumed, bool) {
	s.done(st.Steps, epochs)
	b, err := folder.ReadFile(filepath.Dir(s.path), reachedFile)
	if err != nil || len(b) != 16 {
		return contract.Resumed{}, false
	}
	steps := int(binary.LittleEndian.Uint64(b))
	seconds := math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	if steps < st.Steps || math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		steps, seconds = st.Steps, st.Trained.Seconds()
	}
	lost := max(seconds-st.Trained.Seconds(), 0)
	if steps == st.Steps {
		lost = 0
	}
	news := contract.Resumed{Step: st.Steps, LostSteps: steps - st.Steps, LostSeconds: lost}
	return news, news.LostSteps > 0 || st.Steps > 0 && s.every != (program.Interval{})
}

// remove deletes the files that a training left for its next attempt.
func (s *saves) remove() error {
	if s.path == "" {
		return nil
	}
	s.close()
	if err := folder.Remove(filepath.Join(filepath.Dir(s.path), reachedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove checkpoint: %w", err)
	}
	return removeCheckpoint(s.path)
}

func (s *saves) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
