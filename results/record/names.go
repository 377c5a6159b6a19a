package record

import "slices"

// ColumnNames returns the names of the columns of jobs.csv and metrics.csv,
// each once, in their order: what the axes of a matrix, whose values become
// columns behind them, cannot be called.
func ColumnNames() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range jobColumns {
		add(c.Name)
	}
	for _, c := range cellColumns() {
		add(c.Name)
	}
	return names
}
