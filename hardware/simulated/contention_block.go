package simulated

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
)

//go:embed contention_block.go hardware_block.go
var source embed.FS

// blockOf describes a block whose arguments fill a struct of this package.
func blockOf[T any](name string) *schema.Block {
	schema.Document("simulated", source)
	return schema.BlockFor[T](schema.Block{Name: name, Single: true})
}

var contentionBlock = blockOf[ContentionArgs]("contention")

// ContentionArgs are the arguments of a contention block.
//
// How jobs on one node slow each other down, by the cores that they hold. The law is given by its parameters, or fitted
// when the file is read to measurements of like jobs that ran side by side: a CSV `file` with the cores of each job,
// the number of jobs, and the seconds until all were done.
//
// The law: a job on n cores keeps n / (1 + serial (n − 1)) of them busy; where the jobs of a node together keep L busy,
// each is slowed by (1 + (L / C)^sharpness)^(1/sharpness), with C = capacity × threads, against running alone, which
// has the slowdown 1. All that a job has left is slowed, its start-up and its overheads too, from the instant at which
// a neighbor starts, stops, pauses, resumes or changes its size. A gang goes as slowly as on its slowest node.
// Estimates stay the run times of jobs that run alone.
//
//	hardware "shared" {
//	  engine  = "simulated"
//	  threads = 16
//	  contention {
//	    capacity  = 0.8
//	    sharpness = 3
//	  }
//	}
//
//	hardware "measured" {
//	  engine  = "simulated"
//	  threads = 16
//	  contention {
//	    file             = "contention.csv"
//	    measured_threads = 64
//	  }
//	}
type ContentionArgs struct {
	// The part of a job in which it keeps one core busy, however many it holds.
	//
	//	serial = 0.05
	Serial float64 `arg:"serial" default:"0" min:"0" max:"1"`
	// How many busy cores the node serves at full speed, as a part of its threads: below 1 where jobs wait for the memory,
	// or two threads share a core.
	//
	// Default: required without `file`.
	//
	//	capacity = 0.8
	Capacity float64 `arg:"capacity" min:"1e-3" max:"1e3"`
	// How suddenly the slowdown begins at the capacity; small numbers let it begin long before.
	//
	//	sharpness = 2
	Sharpness float64 `arg:"sharpness" default:"4" min:"0.2" max:"20"`
	// A CSV file with measurements, relative to the folder of the experiment file. Its first line names the columns.
	//
	//	file = "contention.csv"
	File string `arg:"file"`
	// Cores of the machine that was measured.
	//
	// Default: required with `file`.
	//
	//	measured_threads = 64
	MeasuredThreads int `arg:"measured_threads" min:"1" max:"threads"`
	// The column of `file` with the cores of each job.
	//
	//	cores_column = "Cores_Per_C"
	CoresColumn string `arg:"cores_column" default:"cores"`
	// The column of `file` with the number of jobs side by side.
	//
	//	jobs_column = "Containers"
	JobsColumn string `arg:"jobs_column" default:"jobs"`
	// The column of `file` with the seconds.
	//
	//	time_column = "Time"
	TimeColumn string `arg:"time_column" default:"seconds"`
	// The rows of `file` that count: those with these texts in these columns.
	//
	// Default: all.
	//
	//	where = { model = "resnet" }
	Where []schema.Setting `arg:"where"`
	// The cores that the jobs of a node really share, where its `threads` promise more than there are.
	//
	// Default: the threads of the node.
	//
	//	threads = 8
	Threads int `arg:"threads" min:"1" max:"threads"`
}
