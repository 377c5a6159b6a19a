package record

import "github.com/tfexp/tfexp/results/table"

// Tables in the folder of a cell that ran for real.
var (
	// Progress has the reports of programs, GPUs the states of the GPUs that jobs use, and Containers the usage of
	// each container.
	Progress   = table.RegisterOfCells[ProgressRow]("progress.csv", nil)
	GPUs       = table.RegisterOfCells[GPURow]("gpus.csv", nil)
	Containers = table.RegisterOfCells[ContainerRow]("containers.csv", nil)
)

// GPURow is a row of gpus.csv: the state of one GPU at a time. A value that the driver does not report is negative,
// an empty field.
type GPURow struct {
	// At is in seconds from the cell's start.
	At float64 `csv:"t_s,time"`
	// GPU is the number of the GPU in the cell; Device is its UUID.
	GPU    int    `csv:"gpu"`
	Device string `csv:"device"`
	// Utilization is the percentage of time in which the GPU computed, Power is in watts, Memory is in bytes.
	Utilization float64 `csv:"utilization_pct,time"`
	Memory      int64   `csv:"memory_bytes,count"`
	Power       float64 `csv:"power_w,time"`
}

// ContainerRow is a row of containers.csv: the usage of a container at one
// sample.
type ContainerRow struct {
	At  float64 `csv:"t_s,time"` // seconds
	Job string  `csv:"job"`
	// CPU is the CPU use in percent of one core since the container's previous row.
	CPU float64 `csv:"cpu_pct"`
	// Memory is in bytes, and MemoryPct in percent of the container's limit.
	Memory    float64 `csv:"memory_bytes"`
	MemoryPct float64 `csv:"memory_pct"`
	Cores     int     `csv:"cores"` // number held; 0 while paused
	// Part is the part of the job in the container, such as "worker-1"; empty for a job of one part.
	Part string `csv:"part"`
}

// Container returns a name for the row's container, unique in the cell.
func (r *ContainerRow) Container() string { return r.Job + "." + r.Part }

// ProgressRow is a row of progress.csv: a progress line of a program, and its
// time of arrival.
type ProgressRow struct {
	At    float64 `csv:"t_s,time"` // seconds
	Job   string  `csv:"job"`
	Epoch int     `csv:"epoch"` // number of finished epochs; likewise steps
	Step  int     `csv:"step"`
	// Loss, Accuracy, and the wall time Seconds of the epoch are NaN if the program does not report them.
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	Seconds  float64 `csv:"seconds"`
	Threads  int     `csv:"threads"` // number in use; 0 if unknown
	// Used is the service time in seconds of all attempts up to the line; NaN if unknown. Left is the rest of the
	// job's budget in seconds, and TimeLeft the rest according to the program; NaN without a budget.
	Used     float64 `csv:"used_s"`
	Left     float64 `csv:"left_s"`
	TimeLeft float64 `csv:"left_told_s"`
	// Rate is the learning rate; NaN if the program does not report it.
	Rate float64 `csv:"lr"`
	// Epochs or Steps is the length of the job; the other one is 0. Both are 0 if it is unknown.
	Epochs int `csv:"epochs"`
	Steps  int `csv:"steps"`
}
