package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// ServersFile lists the servers that were rented: in the folder of a cell, and over all
// cells in that of the experiment. It is there only where nodes come and go.
const ServersFile = "servers.csv"

// ServerRow is a row of servers.csv.
type ServerRow struct {
	Cell                                    string
	Server                                  int // counted from 1 in its cell
	Node, Region, Device, Market, Role, Job string
	Created, Up, Warned, Down               float64 // negative: never
	Revoked                                 int
	PricePerHour, Cost                      float64
	Cores                                   string // those of its node, "0-1"; empty where it has none here
}

var serverColumns = []table.Column[ServerRow]{
	table.Text("cell", func(r *ServerRow) *string { return &r.Cell }),
	table.Int("server", func(r *ServerRow) *int { return &r.Server }),
	table.Text("node", func(r *ServerRow) *string { return &r.Node }),
	table.Text("region", func(r *ServerRow) *string { return &r.Region }),
	table.Text("device", func(r *ServerRow) *string { return &r.Device }),
	table.Text("market", func(r *ServerRow) *string { return &r.Market }),
	table.Text("role", func(r *ServerRow) *string { return &r.Role }),
	table.Text("job", func(r *ServerRow) *string { return &r.Job }),
	table.Seconds("created_s", func(r *ServerRow) *float64 { return &r.Created }),
	table.Seconds("up_s", func(r *ServerRow) *float64 { return &r.Up }),
	table.Seconds("warned_s", func(r *ServerRow) *float64 { return &r.Warned }),
	table.Seconds("down_s", func(r *ServerRow) *float64 { return &r.Down }),
	table.Int("revoked", func(r *ServerRow) *int { return &r.Revoked }),
	table.Float("price_usd_per_h", func(r *ServerRow) *float64 { return &r.PricePerHour }),
	table.Float("cost_usd", func(r *ServerRow) *float64 { return &r.Cost }),
	table.Text("cores", func(r *ServerRow) *string { return &r.Cores }),
}

// writeServers writes the servers of a cell.
func (w *CellWriter) writeServers() (File, error) {
	f, err := table.Create(filepath.Join(w.dir, ServersFile), w.durable, serverColumns, nil)
	if err != nil {
		return File{}, err
	}
	defer f.Abort()
	for _, row := range w.replayed {
		if err := f.Add(&row, nil); err != nil {
			return File{}, err
		}
	}
	for i, s := range w.Servers() {
		row := w.server(len(w.replayed)+i+1, s)
		if err := f.Add(&row, nil); err != nil {
			return File{}, err
		}
	}
	size, err := f.Replace()
	return File{Name: ServersFile, Size: size}, err
}

// AddServer adds a server that no event tells of, from the records of a run. Its cell and number are set.
func (w *CellWriter) AddServer(r ServerRow) {
	r.Cell, r.Server = w.setup.Cell.Cell, len(w.replayed)+1
	w.replayed = append(w.replayed, r)
}

// WriteServerRows writes servers.csv over all cells.
func WriteServerRows(dir string, rows []ServerRow) error {
	return table.WriteOrRemove(filepath.Join(dir, ServersFile), serverColumns, rows)
}

// ReadServers reads servers.csv over all cells; there are no rows without the file.
func (e *Experiment) ReadServers() ([]ServerRow, error) {
	return table.ReadAll(e.Dir, ServersFile, serverColumns)
}

func (w *CellWriter) server(number int, s measure.Server) ServerRow {
	at := func(t time.Duration) float64 {
		if t == scheduler.Never {
			return -1
		}
		return table.ToMicros(t).Seconds()
	}
	node, terms := w.setup.Cluster.Nodes[s.Node], w.setup.Terms[s.Node]
	r := ServerRow{
		Cell: w.setup.Cell.Cell, Server: number, Node: node.Name, Region: terms.Region, Device: node.GPU, Market: s.Market,
		Created: at(s.Created), Up: at(s.Up), Warned: at(s.Warned), Down: at(s.Down),
		PricePerHour: s.Price, Cost: s.Cost,
	}
	first := int32(0)
	for _, n := range w.setup.Cluster.Nodes[:s.Node] {
		first += int32(n.Threads)
	}
	r.Cores = scheduler.CoreSet{{Lo: first, Hi: first + int32(node.Threads)}}.String()
	r.Role = strings.Join(s.Roles, "+")
	if s.Job >= 0 {
		r.Job = w.setup.Jobs[s.Job].Name
	}
	if s.Revoked {
		r.Revoked = 1
	}
	return r
}

// WriteServers writes servers.csv over the complete cells, in the order of the plan, if
// some of them have one.
func (e *Experiment) WriteServers() error {
	out := table.Header(nil, serverColumns, nil)
	some := false
	for _, c := range e.Cells {
		text, err := folder.ReadFile(e.Dir, CellsDir, c.Cell, ServersFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", ServersFile, err)
		}
		if _, rows, ok := bytes.Cut(text, []byte{'\n'}); ok {
			out, some = append(out, rows...), true
		}
	}
	if !some {
		return nil
	}
	return table.WriteWhole(filepath.Join(e.Dir, ServersFile), false, out)
}
