// Package machines decodes hardware blocks: machines, clusters and their nodes, the
// terms on which servers are rented, and how jobs on one machine slow each other down.
package machines

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/files"
)

// Decoder decodes the hardware blocks of one file. It returns false for a block
// that has an error, which is reported, or depends on something that has.
type Decoder struct {
	files.Finder
	Host experiments.HostFacts
	// Threads are those of this machine, as the file sees them: host.threads.
	Threads int
}

// hostMemory is cut to whole GiB, so that a reboot changes no key; 0 when it is
// not known.
func (d *Decoder) hostMemory() int64 { return d.Host.MemoryBytes &^ (1<<30 - 1) }
