package record

import (
	"io"

	"github.com/tfexp/tfexp/results/table"
)

// JSONLines writes the rows of a table of an experiment, in CSV, as JSON
// objects, one a line; see table.JSONLines. Axes of the matrix are numbers where
// they look like them.
func JSONLines(w io.Writer, rows io.Reader) error {
	return table.JSONLines(w, rows, TextColumn)
}

// TextColumn reports whether a column of the tables holds text, even where it looks like numbers.
func TextColumn(column string) bool { return textColumns[column] }

// textColumns are the columns of the tables that hold text.
var textColumns = func() map[string]bool {
	text := map[string]bool{}
	addText(text, jobColumns)
	addText(text, cellColumns())
	addText(text, estimateColumns)
	addText(text, sampleColumns)
	addText(text, accuracyColumns)
	addText(text, profilingColumns)
	addText(text, comparisonColumns)
	addText(text, fidelityColumns)
	addText(text, fidelityJobColumns)
	addText(text, rankingColumns)
	addText(text, choiceColumns)
	addText(text, sequenceColumns)
	addText(text, objectiveColumns)
	addText(text, trainingColumns)
	return text
}()

func addText[T any](text map[string]bool, columns []table.Column[T]) {
	for _, c := range columns {
		if c.Text {
			text[c.Name] = true
		}
	}
}
