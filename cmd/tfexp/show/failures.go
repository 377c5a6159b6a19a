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

// Limits on the failures that are printed; the report has all.
const (
	mostFailures = 3
	tailLines    = 8
)

// failures prints the first failed jobs, each with the last lines of its log.
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

// FailedJobs prints failed jobs with the reason. more is the number of failed jobs that are not in failures.
func (p *Printer) FailedJobs(failures []measure.Failure, more int) {
	for _, f := range failures {
		fmt.Fprintf(p.Out, "    %s: %s\n", f.Job, f.Reason)
	}
	if more > 0 {
		fmt.Fprintf(p.Out, "    and %s more\n", Count(more, "job", "jobs"))
	}
}

// quote prints the lines of a log, indented.
func (p *Printer) quote(log string) {
	if log == "" {
		return
	}
	for lines := bufio.NewScanner(strings.NewReader(log)); lines.Scan(); {
		fmt.Fprintf(p.Out, "  %s %s\n", p.Paint(table.Dim, "│"), lines.Text())
	}
}
