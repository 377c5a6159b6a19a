package record

import "github.com/tfexp/tfexp/results/table"

// Observations of a cell that ran for real, in its folder.
var (
	// Progress holds the reports of the programs, GPUs the states of the GPUs, for cells whose jobs use some, and
	// Containers the usage of each container.
	Progress   = table.RegisterOfCells[ProgressRow]("progress.csv", nil)
	GPUs       = table.RegisterOfCells[GPURow]("gpus.csv", nil)
	Containers = table.RegisterOfCells[ContainerRow]("containers.csv", nil)
)

// GPURow is the state of one GPU of a cell at an instant, a row of gpus.csv. A
// value that the driver does not report is negative, and an empty field.
type GPURow struct {
	// At is in seconds from the cell's start.
	At float64 `csv:"t_s,time"`
	// GPU is its number in the cell's grants; Device is its UUID, by which
	// programs select it.
	GPU    int    `csv:"gpu"`
	Device string `csv:"device"`
	// Utilization is the percentage of the time in which it computed, Power the
	// watts that it drew, Memory the bytes in use.
	Utilization float64 `csv:"utilization_pct,time"`
	Memory      int64   `csv:"memory_bytes,count"`
	Power       float64 `csv:"power_w,time"`
}

// ContainerRow is a row of containers.csv: the usage of a container at one
// sample.
type ContainerRow struct {
	At  float64 `csv:"t_s,time"` // seconds
	Job string  `csv:"job"`
	// CPU is in percent of one core, since the last row of the container.
	CPU float64 `csv:"cpu_pct"`
	// Memory is in bytes, MemoryPct in percent of the most that it may have.
	Memory    float64 `csv:"memory_bytes"`
	MemoryPct float64 `csv:"memory_pct"`
	Cores     int     `csv:"cores"` // held; 0 while paused
	// Part is the part of the job that the container is, "worker-1"; empty for a job of one.
	Part string `csv:"part"`
}

// Container names the row's container within its cell.
func (r *ContainerRow) Container() string { return r.Job + "." + r.Part }

// ProgressRow is a row of progress.csv: a progress line of a program, and its
// time of arrival.
type ProgressRow struct {
	At    float64 `csv:"t_s,time"` // seconds
	Job   string  `csv:"job"`
	Epoch int     `csv:"epoch"` // finished, as are the steps
	Step  int     `csv:"step"`
	// Loss, Accuracy and the wall Seconds of the epoch are NaN where the program
	// does not report them.
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	Seconds  float64 `csv:"seconds"`
	Threads  int     `csv:"threads"` // in use; 0 where it does not say
	// Used is the service time of all attempts when the line came, in seconds. Left is
	// the rest of the job's budget, and TimeLeft the rest according to the program; NaN
	// for a job without a budget. Used is NaN where the engine does not know it.
	Used     float64 `csv:"used_s"`
	Left     float64 `csv:"left_s"`
	TimeLeft float64 `csv:"left_told_s"`
	// Rate is the rate of learning; NaN where the program does not report it.
	Rate float64 `csv:"lr"`
	// Epochs or Steps is how many the job trains, the other 0; both are 0 where that is not known.
	Epochs int `csv:"epochs"`
	Steps  int `csv:"steps"`
}
