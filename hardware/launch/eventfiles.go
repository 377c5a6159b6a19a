package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/eventfile"
)

// eventFiles are the TensorBoard event files of a job, over all of its attempts:
// the events of an earlier attempt are not read again.
type eventFiles struct {
	*EventFiles
	follower *eventfile.Follower
	found    map[string]bool // tags
}

func (b *ProgressBoard) eventFiles(job int, from *EventFiles) *eventFiles {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files[job] == nil {
		b.files[job] = &eventFiles{from, eventfile.Follow(Absolute(from.Dir)), map[string]bool{}}
	}
	return b.files[job]
}

// next reports the events written since the last call.
func (f *eventFiles) next(a *ProgressAttempt) {
	scalars, err := f.follower.Next()
	now, wall := a.board.now(), time.Now()
	for _, p := range f.points(scalars) {
		since := wall.Sub(time.Unix(0, int64(p.wall*1e9)))
		a.tell(p.Progress, min(max(now-since, 0), now), now)
	}
	for _, err := range split(err) {
		text := strings.ReplaceAll(err.Error(), Absolute(f.Dir), f.Below)
		a.warn("the event file %s; nothing more is read of it", text)
	}
}

// missing warns of tags that no event file had.
func (f *eventFiles) missing(a *ProgressAttempt) {
	var tags []string
	for _, tag := range []string{f.Loss, f.Accuracy} {
		if tag != "" && !f.found[tag] {
			tags = append(tags, fmt.Sprintf("%q", tag))
		}
	}
	seen := f.follower.Tags()
	switch {
	case len(tags) == 0:
	case len(seen) == 0:
		a.warn("no event file with scalars was found below $TFEXP_CHECKPOINT_DIR/%s: let the program write them there",
			f.Below)
	default:
		a.warn("its event files have no scalars %s; they have %s", strings.Join(tags, " and "), strings.Join(seen, ", "))
	}
}

func (a *ProgressAttempt) warn(format string, args ...any) {
	if a.board.warn != nil {
		a.board.warn(a.job, FollowedEventFiles, fmt.Sprintf(format, args...))
	}
}

// point is the progress at a step, and when it was written.
type point struct {
	contract.Progress
	wall float64 // seconds since 1970
}

// points joins the scalars of a step, in the order in which they were written.
func (f *eventFiles) points(scalars []eventfile.Scalar) []point {
	slices.SortStableFunc(scalars, func(a, b eventfile.Scalar) int {
		switch {
		case a.Wall < b.Wall:
			return -1
		case a.Wall > b.Wall:
			return 1
		}
		return 0
	})
	var list []point
	for _, s := range scalars {
		loss, accuracy := s.Is(f.Loss), s.Is(f.Accuracy)
		if !loss && !accuracy || s.Step < 0 {
			continue
		}
		at := int(s.Step)
		if n := len(list); n == 0 || f.step(list[n-1].Progress) != at || loss && list[n-1].Loss != nil ||
			accuracy && list[n-1].Accuracy != nil {
			p := point{wall: s.Wall}
			if f.Epochs {
				p.Epoch = at
			} else {
				p.Step = at
			}
			list = append(list, p)
		}
		last := &list[len(list)-1]
		value := s.Value
		if loss {
			last.Loss, f.found[f.Loss] = &value, true
		}
		if accuracy {
			last.Accuracy, f.found[f.Accuracy] = &value, true
		}
	}
	return list
}

func (f *eventFiles) step(p contract.Progress) int {
	if f.Epochs {
		return p.Epoch
	}
	return p.Step
}

// split returns the errors that errors.Join has put together.
func split(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}
