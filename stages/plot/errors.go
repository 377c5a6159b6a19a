package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// errorBars draws the errors of estimates: the mean and the standard deviation, for each model over all runs, then by
// job and by resource. It draws nothing if no estimate has real runs.
func errorBars(d *Data, estimates []record.EstimateRow) ([]Figure, error) {
	accuracy, err := record.Accuracy.Read(d.Dir)
	if err != nil || len(accuracy) == 0 || len(estimates) == 0 {
		return nil, err
	}
	var models []string
	var rows []canvas.ErrorRow
	for _, by := range []string{record.ByAll, record.ByJob, record.ByResource} {
		var groups []string
		for _, a := range accuracy {
			if a.By == by && slices.Index(groups, a.Group) < 0 {
				groups = append(groups, a.Group)
			}
		}
		for _, g := range groups {
			for _, a := range accuracy {
				if a.By != by || a.Group != g || len(rows) == mostErrorRows {
					continue
				}
				m := slices.Index(models, a.Estimator())
				if m < 0 {
					m = len(models)
					models = append(models, a.Estimator())
				}
				label := g
				if by == record.ByAll {
					label = "all runs"
				}
				sd := a.SD
				if math.IsNaN(sd) {
					sd = 0
				}
				rows = append(rows, canvas.ErrorRow{
					Label: label, Class: m, Bias: a.Bias, SD: sd, MAE: a.MeanAbs, Head: by == record.ByAll,
				})
			}
		}
	}
	const name, title = "predicted-errors", "Errors of the estimates"
	caption := "Points are the mean signed error, (predicted − actual) / actual; bars go one standard deviation to both " +
		"sides; ticks are the mean absolute error. Above 0, estimates are too long. Over all runs: "
	var parts []string
	for _, r := range rows {
		if r.Head {
			parts = append(parts, fmt.Sprintf("%s %s%% (sd %s%%)", models[r.Class], table.Number(r.MAE), table.Number(r.SD)))
		}
	}
	caption += strings.Join(parts, ", ") + "."
	height, paint := canvas.ErrorBars(title, rows, models)
	return []Figure{{
		Picture: Picture{Name: name, Kind: Predicted, Title: title, Caption: caption},
		Width:   canvas.Width, Height: height, Paint: paint,
	}}, nil
}

// mostErrorRows is the greatest number of groups that are drawn.
const mostErrorRows = 40
