package show

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Limits on the printed failures; the report has more.
const (
	mostFailures = 3
	tailLines    = 8
)

// failures prints the first jobs that failed, with the last lines of their logs.
func (p *Printer) failures(e *record.Experiment) error {
	shown, all := 0, 0
	for _, c := range e.FailedCells() {
		all += measure.Failed.CountOf(&c.Metrics)
		if c.Error != "" {
			all++
			if shown < mostFailures {
				shown++
				fmt.Fprintf(p.Out, "\n%s %s: %s\n", p.Paint(table.Red, "failed:"), c.Cell, c.Error)
			}
		}
		for _, f := range c.Failures {
			if shown == mostFailures {
				break
			}
			shown++
			fmt.Fprintf(p.Out, "\n%s %s in %s: %s\n", p.Paint(table.Red, "failed:"), f.Job, c.Cell, f.Reason)
			log, err := folder.Tail(e.Dir, tailLines, record.CellsDir, c.Cell, record.LogsDir, f.Job+".log")
			if err != nil {
				return err
			}
			p.quote(secret.Redact(log))
		}
	}
	if all > shown {
		fmt.Fprintf(p.Out, "… and %s more: see the report\n", Count(all-shown, "failure", "failures"))
	}
	return nil
}

// FailedJobs prints jobs that failed and why, and how many more there are.
func (p *Printer) FailedJobs(failures []measure.Failure, more int) {
	for _, f := range failures {
		fmt.Fprintf(p.Out, "    %s: %s\n", f.Job, f.Reason)
	}
	if more > 0 {
		fmt.Fprintf(p.Out, "    and %s more\n", Count(more, "job", "jobs"))
	}
}

// quote prints lines of a log.
func (p *Printer) quote(log string) {
	if log == "" {
		return
	}
	for lines := bufio.NewScanner(strings.NewReader(log)); lines.Scan(); {
		fmt.Fprintf(p.Out, "  %s %s\n", p.Paint(table.Dim, "│"), lines.Text())
	}
}
