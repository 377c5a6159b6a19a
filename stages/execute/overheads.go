package execute

import (
	"errors"
	"fmt"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
	"io/fs"
	"path/filepath"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/record"
)

// addOverheads takes from the logs of resized jobs what their programs say that
// it cost to follow. A log that is not there says nothing.
func addOverheads(w *record.CellWriter, c stages.Task) error {
	if c.Logs == "" {
		return nil
	}
	for i := range c.Setup.Jobs {
		if w.Row(i).Resizes == 0 {
			continue
		}
		report, err := parseLog(filepath.Join(c.Logs, c.Setup.Jobs[i].Name+".log"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read job log: %w", err)
		}
		if len(report.Resized) > 0 {
			sum := 0.0
			for _, r := range report.Resized {
				sum += r.Seconds
			}
			w.SetResizeOverhead(i, sum)
		}
	}
	return nil
}

func parseLog(path string) (contract.Report, error) {
	f, err := folder.Open(filepath.Split(path))
	if err != nil {
		return contract.Report{}, err
	}
	defer f.Close()
	return contract.Parse(f, contract.Last)
}
