package sampling

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments"
)

// Forms are the forms of job blocks in cells, by the addresses of their samples: a block that reads axes has several.
type Forms struct {
	addresses []string // in the order of the file
	cells     map[string][]experiments.Cell
	of        map[string]request
	alike     map[request][]string
}

// request is what forms of a block may have in common.
type request struct {
	block, hardware string
	threads, gpus   int
}

// Add adds a cell with a job of a form.
func (f *Forms) Add(address string, c experiments.Cell, j *experiments.Job) {
	if f.cells == nil {
		f.cells, f.of, f.alike = map[string][]experiments.Cell{}, map[string]request{}, map[request][]string{}
	}
	if f.cells[address] == nil {
		r := request{j.Name, c.Hardware.Name, j.Threads.Request, j.GPUs}
		f.addresses = append(f.addresses, address)
		f.of[address] = r
		f.alike[r] = append(f.alike[r], address)
	}
	f.cells[address] = append(f.cells[address], c)
}

// Axes are those whose values distinguish a form from others with the same request, by its address: those that have
// one value in all its cells.
func (f *Forms) Axes() map[string]string {
	axes := map[string]string{}
	for _, h := range f.addresses {
		if len(f.alike[f.of[h]]) < 2 {
			continue
		}
		var same []string
		for _, a := range f.cells[h][0].Axes {
			if !slices.ContainsFunc(f.cells[h], func(c experiments.Cell) bool { return !slices.Contains(c.Axes, a) }) {
				same = append(same, a.Name+"="+strings.ReplaceAll(a.Value, " ", ""))
			}
		}
		axes[h] = strings.Join(same, " ")
	}
	return axes
}
