package contract

import (
	"encoding/json"
	"fmt"
	"math"
)

// Progress is one report of a running program. A program prints it as a
// separate line:
//
//	{"tfexp":{"epoch":3,"step":120,"loss":0.41,"accuracy":0.9,"seconds":1.2}}
//
// Every field may be left out.
type Progress struct {
	// Epoch counts finished epochs, Step finished optimizer steps.
	Epoch int `json:"epoch,omitempty"`
	Step  int `json:"step,omitempty"`
	// Loss is the training loss of the epoch, +Inf where it is NaN or infinite; Accuracy the part (0 to 1) of held-out
	// examples that are classified rightly.
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Rate is the rate of learning in the epoch; of the step, in a line without Epoch.
	Rate *float64 `json:"lr,omitempty"`
	// Seconds is the wall time of the epoch; of the step, in a line without Epoch.
	Seconds *float64 `json:"seconds,omitempty"`
	// Threads is how many threads the program uses at the moment.
	Threads int `json:"threads,omitempty"`
	// TimeLeft is the rest of the job's budget, in seconds. At is when that was so, in seconds since 1970: a line is
	// read some time after it was printed.
	TimeLeft *float64 `json:"time_left,omitempty"`
	At       *float64 `json:"at,omitempty"`

	// What follows is news of other kinds; such a line has nothing else.

	// Resized: the program has taken on another allotment.
	Resized *Resized `json:"resized,omitempty"`
	// Checkpoint: it has written a checkpoint.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// Resumed: the program continues from a checkpoint or, without a checkpoint, restarts.
	Resumed *Resumed `json:"resumed,omitempty"`
	// Changed: it has taken on other settings.
	Changed *Changed `json:"changed,omitempty"`
	// Deepened: its network has another layer.
	Deepened *Deepened `json:"deepened,omitempty"`
	// Refused is a key of the control file that the program cannot follow, for
	// the given reason.
	Refused string `json:"refused,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// FinalAccuracy is the model's accuracy when its budget is used up. Trained is
	// the service time of all attempts at which the program stopped training, in
	// seconds.
	FinalAccuracy *float64 `json:"final_accuracy,omitempty"`
	Trained       *float64 `json:"trained,omitempty"`
}

// News reports whether p is a line of another kind than progress.
func (p Progress) News() bool {
	return p.Resized != nil || p.Checkpoint != nil || p.Resumed != nil || p.Changed != nil || p.Deepened != nil ||
		p.Refused != "" || p.FinalAccuracy != nil
}

// MostCount bounds the epochs and steps that a program can report.
const MostCount = 1 << 40

// mostAt bounds the field "at" of a line, in seconds since 1970: the year 5138.
const mostAt = 1e11

// problem returns the impossible part of a line; "" for a possible line. It serves lines read while a program runs and
// lines read at its end.
func (p *Progress) problem() string {
	if p.Epoch < 0 || p.Step < 0 || p.Threads < 0 || p.Seconds != nil && *p.Seconds < 0 {
		return "a negative count or time"
	}
	if max(p.Epoch, p.Step) > MostCount {
		return fmt.Sprintf("epoch %d, step %d: the count is too large", p.Epoch, p.Step)
	}
	if p.At != nil && !(*p.At >= 0 && *p.At <= mostAt) {
		return fmt.Sprintf("printed %g seconds after 1970", *p.At)
	}
	switch r, c, s := p.Resized, p.Checkpoint, p.Resumed; {
	case r != nil && (r.Inter < 1 || r.Intra < 1 || r.Seconds < 0):
		return fmt.Sprintf("resized to %d and %d threads in %g seconds", r.Inter, r.Intra, r.Seconds)
	case c != nil && (c.Step < 0 || c.Seconds < 0):
		return fmt.Sprintf("a checkpoint after step %d in %g seconds", c.Step, c.Seconds)
	case s != nil && (s.Step < 0 || s.LostSteps < 0 || s.LostSeconds < 0 || s.Seconds < 0):
		return fmt.Sprintf("resumed after step %d with %d steps (%g seconds) lost", s.Step, s.LostSteps, s.LostSeconds)
	}
	return ""
}

// leaveOut removes invalid accuracies and returns a note about them; "" if all are valid.
func (p *Progress) leaveOut() (said string) {
	for _, a := range []**float64{&p.Accuracy, &p.FinalAccuracy} {
		if *a != nil && !(**a >= 0 && **a <= 1) {
			said = fmt.Sprintf("the accuracy %g is left out: it is a part of 1, 0.93 for 93%%", **a)
			*a = nil
		}
	}
	return said
}

// Checkpoint is a checkpoint: the steps of the whole job until it, the whole
// epochs (if the program counts them), and how long writing it took. In these
// seconds the program did not train.
type Checkpoint struct {
	Step    int     `json:"step"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Resumed is the step after which a program continues, and the lost steps of the
// previous attempt, with the seconds that they took.
type Resumed struct {
	Step        int     `json:"step"`
	LostSteps   int     `json:"lost_steps"`
	LostSeconds float64 `json:"lost_seconds"`
	// Seconds is how long it took to read the checkpoint.
	Seconds float64 `json:"seconds,omitempty"`
}

// Changed is the settings that a program took on while it trained, and the
// seconds in which it did not train for that.
type Changed struct {
	Settings map[string]json.RawMessage `json:"settings"`
	Seconds  float64                    `json:"seconds"`
}

// Deepened is a layer that was added to block Block (from 0), which has Layers
// of them now: the accuracy before and after, and the seconds that it took, in
// which the program did not train.
type Deepened struct {
	Block          int     `json:"block"`
	Layers         int     `json:"layers"`
	AccuracyBefore float64 `json:"accuracy_before"`
	AccuracyAfter  float64 `json:"accuracy_after"`
	Seconds        float64 `json:"seconds"`
}

// Resized is the allotment that a malleable program took on, and the seconds in
// which it did not train because of the change. That time is almost zero if the
// program changes its thread pools in place. It is seconds if the program saves
// its state and restarts.
type Resized struct {
	Inter   int     `json:"inter"`
	Intra   int     `json:"intra"`
	Seconds float64 `json:"seconds"`
}

// progressLine is the object around a Progress.
type progressLine struct {
	Tfexp *Progress `json:"tfexp"`
}

// The marks of a time-writer line. They are spelled as the programs print them.
const (
	TimesBegin = "<TIME_WRITTER_OUTPUT>"
	TimesEnd   = "</TIME_WRITTER_OUTPUT>"
)

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
