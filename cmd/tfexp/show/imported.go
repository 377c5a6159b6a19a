package show

import (
	"fmt"
	"path/filepath"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// Imported prints a summary of imported results.
func (p *Printer) Imported(dir string) error {
	e, err := record.Open(dir)
	if err != nil {
		return err
	}
	comparisons, err := analysis.Comparisons(e)
	if err != nil {
		return err
	}
	headline, err := analysis.HeadlineOf(e, comparisons, nil)
	if err != nil {
		return err
	}
	if err := p.Headline(e.Plan.Description, headline); err != nil {
		return err
	}
	if doubts := analysis.Doubts(analysis.Unsaid(e, comparisons), NamedCells); len(doubts) > 0 {
		fmt.Fprintln(p.Out)
		p.doubts(doubts)
	}
	fmt.Fprintf(p.Out, "\n%s\nreport: %s\n", Count(len(e.Cells), "recorded run", "recorded runs"),
		filepath.Join(dir, record.ReportFile))
	return nil
}
