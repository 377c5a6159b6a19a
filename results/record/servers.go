package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// Servers is the table of servers of nodes that come and go, in the folder of a cell and for all cells in the
// experiment's folder. It exists only if there are such servers.
var Servers = table.Register[ServerRow]("servers.csv", nil)

// ServerRow is a row of servers.csv.
type ServerRow struct {
	Cell         string  `csv:"cell"`
	Server       int     `csv:"server"` // counted from 1 in its cell
	Node         string  `csv:"node"`
	Region       string  `csv:"region"`
	Device       string  `csv:"device"`
	Market       string  `csv:"market"`
	Role         string  `csv:"role"`
	Job          string  `csv:"job"`
	Created      float64 `csv:"created_s,time"` // negative: never
	Up           float64 `csv:"up_s,time"`
	Warned       float64 `csv:"warned_s,time"`
	Down         float64 `csv:"down_s,time"`
	Revoked      int     `csv:"revoked"`
	PricePerHour float64 `csv:"price_usd_per_h"`
	Cost         float64 `csv:"cost_usd"`
	Cores        string  `csv:"cores"` // the cores of its node, "0-1"; empty for a node without cores here
}

// ServerMeter is a meter that also has the servers of nodes, in the order of their creation.
type ServerMeter interface {
	measure.NodeMeter
	Servers() []ServerRow
}

// writeServers writes the servers of a cell.
func (w *CellWriter) writeServers() (File, error) {
	f, err := Servers.Create(w.dir, w.durable, nil)
	if err != nil {
		return File{}, err
	}
	defer f.Abort()
	if m, ok := w.Meter().(ServerMeter); ok {
		for _, r := range m.Servers() {
			w.AddServer(r)
		}
	}
	rows := w.replayed
	for i := range rows {
		if err := f.Add(&rows[i], nil); err != nil {
			return File{}, err
		}
	}
	size, err := f.Replace()
	return File{Name: Servers.File, Size: size}, err
}

// AddServer adds a server that is not in events but in a meter or in recorded runs. AddServer sets its cell and
// number.
func (w *CellWriter) AddServer(r ServerRow) {
	r.Cell, r.Server = w.setup.Cell.Cell, len(w.replayed)+1
	w.replayed = append(w.replayed, r)
}

// WriteServers writes servers.csv with the servers of all complete cells, in the order of the plan, if some cell has
// servers.
func (e *Experiment) WriteServers() error {
	out := Servers.Header(nil)
	some := false
	for _, c := range e.Cells {
		if e.lacksFolder(c.CellRef) {
			continue
		}
		text, err := folder.ReadFile(e.Dir, CellsDir, c.Cell, Servers.File)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", Servers.File, err)
		}
		if _, rows, ok := bytes.Cut(text, []byte{'\n'}); ok {
			out, some = append(out, rows...), true
		}
	}
	if !some {
		return nil
	}
	return table.WriteWhole(filepath.Join(e.Dir, Servers.File), false, out)
}
