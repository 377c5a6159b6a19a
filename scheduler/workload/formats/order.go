package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// heldRow is a row that is kept, to be read later.
type heldRow struct {
	line   int
	fields []string
}

// row adds the job of a row. If the order of day and month in its dates is not known yet, it keeps the row until
// another row shows it.
func (t *table) row(line int, fields []string) error {
	if t.order == logs.NoOrder {
		order, ends := t.orderOf(fields)
		if order == logs.NoOrder && (ends || len(t.held) > 0) {
			t.held = append(t.held, heldRow{line, slices.Clone(fields)})
			return nil
		}
		if order != logs.NoOrder {
			first := map[logs.DayOrder]string{logs.DayFirst: "day", logs.MonthFirst: "month"}[order]
			t.Assumed = append(t.Assumed, fmt.Sprintf("dates begin with the %s, as line %d shows", first, line))
			t.order = order
			t.release()
		}
	}
	return t.add(line, fields)
}

// orderOf returns the order of day and month that the dates of a row show. ends is true if any of them ends with the
// year.
func (t *table) orderOf(fields []string) (order logs.DayOrder, ends bool) {
	for _, fact := range []string{FactArrival, FactStart, FactEnd} {
		i, ok := t.at[fact]
		if !ok {
			continue
		}
		shown, ok := logs.OrderOf(strings.TrimSpace(fields[i]))
		if ends = ends || ok; order == logs.NoOrder {
			order = shown
		}
	}
	return order, ends
}

// release adds the jobs of the rows that were kept.
func (t *table) release() {
	held := t.held
	t.held = nil
	for _, row := range held {
		if err := t.add(row.line, row.fields); err != nil {
			t.late = append(t.late, &textfile.LineError{File: t.file, Line: row.line, Err: err})
		}
	}
}

// lineAt returns the line that an error is about.
func lineAt(err error) int {
	var at *textfile.LineError
	if errors.As(err, &at) {
		return at.Line
	}
	return 0
}
