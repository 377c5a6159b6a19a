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

// reachedFile is a file next to the checkpoint. It has the last step that the training has reached.
const reachedFile = "reached"

// saves decides when checkpoints are written, and where.
type saves struct {
	path  string // path of the checkpoint; empty: no folder is set
	every program.Interval
	clock *clock

	steps  int           // number of steps at the last checkpoint
	epochs int           // number of epochs reported at the last checkpoint
	at     time.Duration // time of the last checkpoint, on the clock
	file   *folder.File  // the open reachedFile; nil: it is not open
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

// done is called after a checkpoint was written, with the numbers of steps and epochs in it.
func (s *saves) done(steps, epochs int) { s.steps, s.epochs, s.at = steps, epochs, s.clock.service() }

// reached records the step that the training has reached. If the process is killed, the next attempt can compute the
// lost work. It writes 16 bytes: the number of steps and the seconds of service time. The kernel keeps them after a
// kill.
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
			return // the lost work is then unknown, which is not an error
		}
		s.file = f
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(steps))
	binary.LittleEndian.PutUint64(b[8:], math.Float64bits(trained.Seconds()))
	s.file.WriteAt(b[:], 0)
}

// resumed returns the work that the previous attempt did after the checkpoint st. st is the zero state without a
// checkpoint. It returns false if this work is unknown, or if no work is lost and no checkpoints were requested.
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

// remove removes the files that a training keeps for its next attempt.
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
