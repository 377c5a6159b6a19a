package record

import (
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/table"
)

// ProgressFile is what the programs of a cell reported while they ran.
const ProgressFile = "progress.csv"

// ProgressRow is a row of progress.csv: a progress line of a program, and when
// it came.
type ProgressRow struct {
	At    float64 // seconds
	Job   string
	Epoch int // finished, as are the steps
	Step  int
	// Loss, Accuracy and the wall Seconds of the epoch are NaN where the program
	// does not say.
	Loss, Accuracy, Seconds float64
	Threads                 int // in use; 0 where it does not say
	// Used is the service time of all attempts when the line came, in seconds. Left is
	// what that leaves of the job's budget, and TimeLeft what the program says is left;
	// NaN for a job without a budget. Used is NaN where the engine does not know it.
	Used, Left, TimeLeft float64
	// Rate is the rate of learning; NaN where the program does not say.
	Rate float64
}

var progressColumns = []table.Column[ProgressRow]{
	table.Seconds("t_s", func(r *ProgressRow) *float64 { return &r.At }),
	table.Text("job", func(r *ProgressRow) *string { return &r.Job }),
	table.Int("epoch", func(r *ProgressRow) *int { return &r.Epoch }),
	table.Int("step", func(r *ProgressRow) *int { return &r.Step }),
	table.Float("loss", func(r *ProgressRow) *float64 { return &r.Loss }),
	table.Float("accuracy", func(r *ProgressRow) *float64 { return &r.Accuracy }),
	table.Float("seconds", func(r *ProgressRow) *float64 { return &r.Seconds }),
	table.Int("threads", func(r *ProgressRow) *int { return &r.Threads }),
	table.Float("used_s", func(r *ProgressRow) *float64 { return &r.Used }),
	table.Float("left_s", func(r *ProgressRow) *float64 { return &r.Left }),
	table.Float("left_told_s", func(r *ProgressRow) *float64 { return &r.TimeLeft }),
	table.Float("lr", func(r *ProgressRow) *float64 { return &r.Rate }),
}

// NewProgressWriter begins progress.csv in a cell's folder.
func NewProgressWriter(dir string) (*table.Live[ProgressRow], error) {
	return table.NewLive(filepath.Join(dir, ProgressFile), progressColumns)
}

// ProgressIn reads progress.csv of the cell in a folder; fs.ErrNotExist where it has none.
func ProgressIn(dir string) ([]ProgressRow, error) {
	f, err := folder.Open(dir, ProgressFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return table.ReadLive(f, progressColumns)
}

// Progress reads progress.csv of a cell; fs.ErrNotExist where it has none.
func (e *Experiment) Progress(c CellRef) ([]ProgressRow, error) {
	f, err := e.open(c, ProgressFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return table.ReadLive(f, progressColumns)
}
