package workload

import (
	"fmt"
	"io"

	"github.com/tfexp/tfexp/scheduler"
)

// WriteRest writes what jobs have that no column of their written form holds, for hashes: the
// units of their work, and their weights.
func WriteRest(w io.Writer, jobs []scheduler.Job) {
	for i := range jobs {
		if j := &jobs[i]; j.Units() != 0 || j.Weight() != 0 {
			_, _ = fmt.Fprintf(w, "%d has %v units of work and the weight %v\n", i, j.Units(), j.Weight())
		}
	}
}
