package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tfexp/tfexp/jobs/contract"
)

// line is the JSON object around a progress report.
type line struct {
	Tfexp *contract.Progress `json:"tfexp"`
}

// WriteProgress prints p as one line. JSON has no infinite numbers: it omits an accuracy or time that is not finite,
// and writes such a loss as NaN, as Python's json module does.
func WriteProgress(w io.Writer, p contract.Progress) error {
	diverged := p.Loss != nil && !finite(*p.Loss)
	for _, f := range []**float64{&p.Loss, &p.Accuracy, &p.Seconds, &p.TimeLeft, &p.At, &p.FinalAccuracy, &p.Trained} {
		if *f != nil && !finite(**f) {
			*f = nil
		}
	}
	text, err := json.Marshal(line{&p})
	if err != nil {
		return fmt.Errorf("write progress: %w", err)
	}
	if diverged {
		text = bytes.Replace(text, []byte(`{"tfexp":{`), []byte(`{"tfexp":{"loss":NaN,`), 1)
		text = bytes.Replace(text, []byte(",}"), []byte("}"), 1)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write progress: %w", err)
	}
	return nil
}

// WriteTimes prints the time-writer line of a finished program: the seconds of its start-up, of each epoch and of
// saving the model.
func WriteTimes(w io.Writer, startup float64, epochs []float64, save float64) error {
	line := append([]byte(contract.TimesBegin), '[')
	number := func(s float64) { line = strconv.AppendFloat(line, s, 'f', 6, 64) }
	number(startup)
	for _, s := range epochs {
		line = append(line, ", "...)
		number(s)
	}
	line = append(line, ", "...)
	number(save)
	line = append(line, "]"+contract.TimesEnd+"\n"...)
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write times: %w", err)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
