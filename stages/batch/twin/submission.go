package twin

import (
	"embed"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// submission are the arguments of a submission block.
//
// How the jobs are submitted to a simulated batch system, for policies with partitions and accounts.
//
//	job "train" {
//	  command = ["python3", "train.py"]
//	  epochs  = 10
//	  submission {
//	    account = "physics"
//	    limit   = "10m"
//	  }
//	}
type submission struct {
	// The account that pays for the jobs.
	//
	// Default: none.
	//
	//	account = "physics"
	Account string `arg:"account"`
	// The partition.
	//
	// Default: the first with `default`.
	//
	//	partition = "short"
	Partition string `arg:"partition"`
	// The quality of service.
	//
	// Default: the quality of service of the account.
	//
	//	qos = "high"
	QOS string `arg:"qos"`
	// The reservation whose nodes the jobs get.
	//
	// Default: none.
	//
	//	reservation = "course"
	Reservation string `arg:"reservation"`
	// The time limit: the batch system ends the jobs after this run time.
	//
	// Default: the predicted run time.
	//
	//	limit = "10m"
	Limit time.Duration `arg:"limit,positive"`
	// A number that is subtracted from the priorities of the jobs.
	//
	//	nice = 100
	Nice int `arg:"nice" default:"0" min:"-2147483645" max:"2147483645"`
	// The fewest nodes over which each job is divided.
	//
	// Default: no bound.
	//
	//	min_nodes = 2
	MinNodes int `arg:"min_nodes" min:"1" max:"nodes"`
	// The most nodes over which each job is divided.
	//
	// Default: no bound.
	//
	//	max_nodes = 2
	MaxNodes int `arg:"max_nodes" min:"1" max:"nodes"`
	// Features that the nodes of the jobs must have, from `node_set` blocks; `a|b` means a or b, and `[a|b]` the same one
	// on all nodes.
	//
	// Default: none.
	//
	//	features = ["ib"]
	Features []string `arg:"features"`
	// The names of jobs that must end before these jobs start.
	//
	// Default: none.
	//
	//	after = ["prepare-1"]
	After []string `arg:"after"`
	// Whether the jobs share their nodes with no other job.
	//
	//	exclusive = true
	Exclusive bool `arg:"exclusive" default:"false"`
	// Whether preempted jobs start again; otherwise they end.
	//
	//	requeue = false
	Requeue bool `arg:"requeue" default:"true"`
}

//go:embed submission.go
var source embed.FS

var _ = schema.Document("twin", source)

var _ = stages.RegisterProperty(stages.Property{
	Block: schema.BlockFor[submission](schema.Block{Name: "submission", Single: true}),
	Request: func(v schema.Settings, j *scheduler.Job) {
		var s submission
		schema.Fill(&s, v.Args)
		j.Own().Submission = &scheduler.Submission{
			Account: s.Account, Partition: s.Partition, QOS: s.QOS, Reservation: s.Reservation, Limit: s.Limit, Nice: s.Nice, MinNodes: s.MinNodes,
			MaxNodes: s.MaxNodes, Features: s.Features, After: s.After, Exclusive: s.Exclusive, Stays: !s.Requeue,
		}
	},
})
