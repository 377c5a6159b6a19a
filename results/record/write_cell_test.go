package record

import "github.com/tfexp/tfexp/scheduler"

// WriteCell writes the folder of a cell whose trace is in memory; see
// CellWriter.Finish.
func WriteCell(dir string, s Setup, records Records, events []scheduler.Event, decisions []scheduler.Decision,
	c Cell) (Cell, error) {
	w, err := NewCellWriter(dir, s, records)
	if err != nil {
		return c, err
	}
	for i := range events {
		w.Event(&events[i])
	}
	for i := range decisions {
		w.Decision(&decisions[i])
	}
	return w.Finish(c)
}
