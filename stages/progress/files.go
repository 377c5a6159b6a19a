package progress

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/stages/progress/eventfile"
)

// warningCode is the code of warnings about damaged or missing event files.
const warningCode = "event_files"

// shownTags is the largest number of tags that a warning lists.
const shownTags = 20

// eventFiles reads the TensorBoard event files of a job.
type eventFiles struct {
	source
	dir      string // absolute path
	follower *eventfile.Follower
	found    map[string]bool // tags that were found
	invalid  *float64        // an invalid accuracy, which was skipped
	warned   bool            // whether a warning about it was given
}

func newEventFiles(s source, dir string) *eventFiles {
	return &eventFiles{s, dir, eventfile.Follow(dir), map[string]bool{}, nil, false}
}

// next reports the events that were written since the last call.
func (f *eventFiles) next(tell func(contract.Progress, time.Time), warn func(code, text string)) {
	err := f.follower.Next(func(scalars []eventfile.Scalar) {
		for _, p := range f.points(scalars) {
			tell(p.Progress, time.Unix(0, int64(p.wall*1e9)))
		}
	})
	if f.invalid != nil && !f.warned {
		f.warned = true
		warn(warningCode, fmt.Sprintf("the scalar %q is %g: an accuracy is a part of 1, 0.93 for 93%%; such values are left out",
			f.Accuracy, *f.invalid))
	}
	for _, err := range split(err) {
		text := strings.ReplaceAll(err.Error(), f.dir, f.Below)
		warn(warningCode, fmt.Sprintf("the event file %s; nothing more is read of it", text))
	}
}

// missing warns about wanted tags that no event file has.
func (f *eventFiles) missing(warn func(code, text string)) {
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
		warn(warningCode, fmt.Sprintf(
			"no event file with scalars was found below $TFEXP_CHECKPOINT_DIR/%s: let the program write them there", f.Below))
	default:
		warn(warningCode, fmt.Sprintf("its event files have no scalars %s; they have %s", strings.Join(tags, " and "),
			strings.Join(seen[:min(len(seen), shownTags)], ", ")+map[bool]string{true: ", …"}[len(seen) > shownTags]))
	}
}

// point is the progress after a step.
type point struct {
	contract.Progress
	wall float64 // Unix seconds at which it was written
}

// points joins the scalars of each step, in the order in which they were written.
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
		if accuracy && !(s.Value >= 0 && s.Value <= 1) {
			f.invalid, f.found[f.Accuracy], accuracy = &s.Value, true, false
		}
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
			value := lossOf(value)
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

// split returns the errors that errors.Join has joined.
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
