package statistics

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/steering"
)

// columns are the columns of job_statistic.csv of SelfTF (arXiv 1810.02935).
var columns = []string{"epoch", "n_ps", "n_worker", "intra", "inter", "loss", "epoch_time"}

// namesOf has, for each column that is a setting, the setting's possible names.
var namesOf = map[string][]string{
	"n_ps": {"n_ps", "ps", "parameter_servers"}, "n_worker": {"n_worker", "n_workers", "workers", "worker"},
	"intra": {"intra", "intra_threads"}, "inter": {"inter", "inter_threads"},
}

// write writes a row for each epoch that real cells' programs reported, with the settings at that time, in the form of
// SelfTF's statistics. given has constant values for columns that are not settings; other such columns are empty. cell
// selects one cell; if empty, all cells are written. write returns the number of epochs.
func write(w io.Writer, e *record.Experiment, cell string, given map[string]string) (int, error) {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return 0, err
	}
	refs := schema.Each(e.Cells, func(c record.Cell) record.CellRef { return c.CellRef })
	for _, c := range e.Beyond {
		refs = append(refs, c.CellRef)
	}
	n := 0
	for _, c := range refs {
		if cell != "" && c.Cell != cell {
			continue
		}
		rows, err := rowsOf(e, c, given)
		if err != nil {
			return n, err
		}
		n += len(rows)
		if err := out.WriteAll(rows); err != nil {
			return n, err
		}
	}
	out.Flush()
	return n, out.Error()
}

// rowsOf returns the rows of one cell.
func rowsOf(e *record.Experiment, c record.CellRef, given map[string]string) ([][]string, error) {
	progress, err := record.ReadLive(e, c, record.Progress)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	changes, err := steering.Decisions.Read(e.Dir, record.CellsDir, c.Cell)
	if err != nil {
		return nil, err
	}
	settings := slices.Clone(c.Axes)
	if own := record.FeatureValueOf[struct{ Settings []record.Setting }](c.Beyond); own != nil {
		settings = append(settings, own.Settings...)
	}
	var rows [][]string
	for _, p := range progress {
		if p.Epoch == 0 {
			continue
		}
		now := slices.Clone(settings)
		for _, ch := range changes {
			if ch.Job != p.Job || ch.At > p.At || ch.How == "refused" || ch.Took == "no" || ch.After == "" {
				continue
			}
			for one := range strings.FieldsSeq(ch.After) {
				name, value, _ := strings.Cut(one, "=")
				now = append(now, record.Setting{Name: name, Value: value})
			}
		}
		row := []string{strconv.Itoa(p.Epoch)}
		for _, column := range columns[1:5] {
			row = append(row, latest(now, column, given[column]))
		}
		rows = append(rows, append(row, orEmpty(p.Loss), orEmpty(p.Seconds)))
	}
	return rows, nil
}

// latest returns the last value of a setting that has one of the column's names, or else standard.
func latest(settings []record.Setting, column, standard string) string {
	for i := len(settings) - 1; i >= 0; i-- {
		if slices.Contains(namesOf[column], settings[i].Name) {
			return settings[i].Value
		}
	}
	return standard
}

func orEmpty(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
