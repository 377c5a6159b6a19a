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
	// Epoch is the number of finished epochs, and Step of finished optimizer steps.
	Epoch int `json:"epoch,omitempty"`
	Step  int `json:"step,omitempty"`
	// Loss is the training loss of the epoch; +Inf if it is NaN or infinite. Accuracy is the fraction (0 to 1) of
	// held-out examples that are classified correctly.
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Rate is the learning rate of the epoch; in a line without Epoch, of the step.
	Rate *float64 `json:"lr,omitempty"`
	// Seconds is the wall time of the epoch; in a line without Epoch, of the step.
	Seconds *float64 `json:"seconds,omitempty"`
	// Threads is the number of threads that the program uses now.
	Threads int `json:"threads,omitempty"`
	// TimeLeft is the rest of the job's budget in seconds. At is the Unix time in seconds at which TimeLeft was
	// measured: the line may be read later.
	TimeLeft *float64 `json:"time_left,omitempty"`
	At       *float64 `json:"at,omitempty"`

	// The following fields are about other events; a line with one of them has no other field.

	// Resized says that the program has adopted another allotment.
	Resized *Resized `json:"resized,omitempty"`
	// Checkpoint says that the program has written a checkpoint.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// Resumed says that the program continues from a checkpoint, or restarts because it has none.
	Resumed *Resumed `json:"resumed,omitempty"`
	// Changed says that the program has adopted other settings.
	Changed *Changed `json:"changed,omitempty"`
	// Deepened says that the program's network has another layer.
	Deepened *Deepened `json:"deepened,omitempty"`
	// Refused is a key of the control file that the program cannot follow. Reason is the reason.
	Refused string `json:"refused,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// FinalAccuracy is the model's accuracy when the budget is used up. Trained is the service time of all attempts, in
	// seconds, at which training stopped.
	FinalAccuracy *float64 `json:"final_accuracy,omitempty"`
	Trained       *float64 `json:"trained,omitempty"`
}

// News reports whether p is about another event than progress.
func (p Progress) News() bool {
	return p.Resized != nil || p.Checkpoint != nil || p.Resumed != nil || p.Changed != nil || p.Deepened != nil ||
		p.Refused != "" || p.FinalAccuracy != nil
}

// MostCount is the largest number of epochs or steps that a program can report.
const MostCount = 1 << 40

// mostAt is the largest value of the field "at", in Unix seconds: the year 5138.
const mostAt = 1e11

// problem describes an impossible value in a line; empty if all are possible. It is used for lines that are read during
// a run and after it.
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

// leaveOut removes invalid accuracies and describes them; empty if all are valid.
func (p *Progress) leaveOut() (said string) {
	for _, a := range []**float64{&p.Accuracy, &p.FinalAccuracy} {
		if *a != nil && !(**a >= 0 && **a <= 1) {
			said = fmt.Sprintf("the accuracy %g is left out: it is a part of 1, 0.93 for 93%%", **a)
			*a = nil
		}
	}
	return said
}

// Checkpoint describes a written checkpoint: the steps and, if the program counts them, the whole epochs of the job so
// far. Seconds is how long writing took; the program did not train in this time.
type Checkpoint struct {
	Step    int     `json:"step"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Resumed has the step after which a program continues, the steps of the previous attempt that were lost, and the
// seconds that these had taken.
type Resumed struct {
	Step        int     `json:"step"`
	LostSteps   int     `json:"lost_steps"`
	LostSeconds float64 `json:"lost_seconds"`
	// Seconds is how long reading the checkpoint took.
	Seconds float64 `json:"seconds,omitempty"`
}

// Changed has the settings that a program adopted during training, and the seconds without training that this took.
type Changed struct {
	Settings map[string]json.RawMessage `json:"settings"`
	Seconds  float64                    `json:"seconds"`
}

// Deepened describes a layer that was added to block Block (from 0), which then has Layers layers. It has the accuracy
// before and after, and the seconds without training that this took.
type Deepened struct {
	Block          int     `json:"block"`
	Layers         int     `json:"layers"`
	AccuracyBefore float64 `json:"accuracy_before"`
	AccuracyAfter  float64 `json:"accuracy_after"`
	Seconds        float64 `json:"seconds"`
}

// Resized has the allotment that a malleable program adopted, and the seconds without training that this took. The time
// is almost zero if the program changes its thread pools in place, and seconds if it saves its state and restarts.
type Resized struct {
	Inter   int     `json:"inter"`
	Intra   int     `json:"intra"`
	Seconds float64 `json:"seconds"`
}

// progressLine is the JSON object around a Progress.
type progressLine struct {
	Tfexp *Progress `json:"tfexp"`
}

// The marks around the list in a time-writer line, spelled as programs print them.
const (
	TimesBegin = "<TIME_WRITTER_OUTPUT>"
	TimesEnd   = "</TIME_WRITTER_OUTPUT>"
)

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
