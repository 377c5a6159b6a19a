package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tfexp/tfexp/scheduler"
)

// ReadBatsim reads a workload of the simulator Batsim: a JSON object with jobs
// and profiles. Only profiles of the type delay (DelayProfile) have a run time of their own,
// so others are malformed. The prediction of a job is its walltime, or the
// delay if it has none. A job takes res cores.
func ReadBatsim(file string, r io.Reader, o Options) (Trace, error) {
	text, err := io.ReadAll(unmarked(r))
	if err != nil {
		return Trace{}, fmt.Errorf("read Batsim workload: %w", err)
	}
	var w struct {
		Resources int               `json:"nb_res"`
		Jobs      []json.RawMessage `json:"jobs"`
		Profiles  map[string]struct {
			Type  string  `json:"type"`
			Delay float64 `json:"delay"`
		} `json:"profiles"`
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return Trace{}, fmt.Errorf("read Batsim workload: %w", &LineError{file, lineOf(text, err), err})
	}
	t := newReader()
	t.Processors = w.Resources
	var found []error
	from, line := 0, 1
	for _, raw := range w.Jobs {
		// The raw text is found again behind the job before it, for its line.
		if i := bytes.Index(text[from:], raw); i >= 0 {
			line += bytes.Count(text[from:from+i], []byte("\n"))
			from += i
		}
		var j struct {
			ID       batsimID `json:"id"`
			Submit   float64  `json:"subtime"`
			Cores    int      `json:"res"`
			Walltime float64  `json:"walltime"`
			Profile  string   `json:"profile"`
		}
		err := json.Unmarshal(raw, &j)
		profile, known := w.Profiles[j.Profile]
		submit, errSubmit := fromUnits(j.Submit, o.Unit)
		run, errRun := fromUnits(profile.Delay, o.Unit)
		wall, errWall := fromUnits(j.Walltime, o.Unit)
		switch {
		case err != nil:
		case !known:
			err = fmt.Errorf("job %v: there is no profile %q", j.ID, j.Profile)
		case profile.Type != "delay" && profile.Type != "DelayProfile":
			err = fmt.Errorf("job %v: profile %q is of the type %q, not delay", j.ID, j.Profile, profile.Type)
		case submit < 0 || run < 0 || j.Cores <= 0:
			err = fmt.Errorf("job %v: it is submitted at %v, runs for %v, and asks for %d cores", j.ID, j.Submit, profile.Delay, j.Cores)
		default:
			err = errors.Join(errSubmit, errRun, errWall)
		}
		if err == nil {
			if wall <= 0 {
				wall = max(run, 1)
			}
			err = t.add(line, scheduler.Job{
				Name: fmt.Sprintf("job-%s", j.ID), Class: t.share(j.Profile), Arrival: submit, Threads: j.Cores,
				Priority: -1, Deadline: scheduler.Never, Predicted: wall,
			}, run)
		}
		if err != nil {
			if found = append(found, &LineError{file, line, err}); len(found) == MaxErrors && !o.Lenient {
				break
			}
		}
	}
	if len(found) > 0 && !o.Lenient {
		return Trace{}, fmt.Errorf("read Batsim workload: %w", errors.Join(found...))
	}
	t.Skipped = found
	return t.Trace, nil
}

// lineOf returns the line at which decoding failed.
func lineOf(text []byte, err error) int {
	at := int64(len(text))
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return 1 + bytes.Count(text[:min(int(at), len(text))], []byte("\n"))
}

// batsimID is the id of a job: a number as it is written, or a text.
type batsimID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *batsimID) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*id = batsimID(text)
	return nil
}
