package record

import (
	"path/filepath"

	"github.com/tfexp/tfexp/results/table"
)

// ContainersFile is what containers used, in the folder of a cell that ran in
// containers.
const ContainersFile = "containers.csv"

// ContainerRow is a row of containers.csv: what a container used when it was
// looked at.
type ContainerRow struct {
	At  float64 // seconds
	Job string
	// CPU is in percent of one core, since the last row of the container.
	CPU float64
	// Memory is in bytes, MemoryPct in percent of the most that it may have.
	Memory, MemoryPct float64
	Cores             int // held; 0 while paused
	// Part is the part of the job that the container is, "worker-1"; empty for a job of one.
	Part string
}

// Container names the row's container among those of its cell.
func (r *ContainerRow) Container() string { return r.Job + "." + r.Part }

var containerColumns = []table.Column[ContainerRow]{
	table.Seconds("t_s", func(r *ContainerRow) *float64 { return &r.At }),
	table.Text("job", func(r *ContainerRow) *string { return &r.Job }),
	table.Float("cpu_pct", func(r *ContainerRow) *float64 { return &r.CPU }),
	table.Float("memory_bytes", func(r *ContainerRow) *float64 { return &r.Memory }),
	table.Float("memory_pct", func(r *ContainerRow) *float64 { return &r.MemoryPct }),
	table.Int("cores", func(r *ContainerRow) *int { return &r.Cores }),
	table.Text("part", func(r *ContainerRow) *string { return &r.Part }),
}

// NewContainerWriter begins containers.csv in a cell's folder.
func NewContainerWriter(dir string) (*table.Live[ContainerRow], error) {
	return table.NewLive(filepath.Join(dir, ContainersFile), containerColumns)
}

// Containers reads containers.csv of a cell; fs.ErrNotExist for one that did
// not run in containers.
func (e *Experiment) Containers(c CellRef) ([]ContainerRow, error) {
	f, err := e.open(c, ContainersFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return table.ReadLive(f, containerColumns)
}
