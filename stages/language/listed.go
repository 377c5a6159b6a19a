package language

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// JobList is a block in workload blocks that lists jobs, like a trace block. A workload can also have submit blocks.
type JobList struct {
	// Name is the name of the block. Block describes the block.
	Name  string
	Block func() *schema.Block
	// Decode decodes a block of this name. If the block has an error, it reports it and returns false.
	Decode func(*Decoder, *eval.Node, *eval.Env) (ListedJobs, bool)
}

// ListedJobs are the jobs of a JobList. Their job blocks are known only by name.
type ListedJobs interface {
	// Raw returns the jobs without the values of job blocks.
	Raw() *experiment.Trace
	// JobBlocks returns the names of the job blocks.
	JobBlocks() []string
	// With returns the jobs with the values of these job blocks, which are in the order of JobBlocks.
	With([]*experiment.Job) *experiment.Trace
}

var jobLists []JobList

// RegisterJobList registers a block that lists jobs. It panics if the name is taken.
func RegisterJobList(l JobList) {
	Extend(l.Name, Workload, Extension[experiment.Workload]{
		Blocks: func() []*schema.Block { return []*schema.Block{l.Block()} },
		Before: "submit",
	})
	jobLists = append(jobLists, l)
}

// JobListIn returns the job list that a workload block has and its block; nil if it has none.
func JobListIn(workload *eval.Node) (*JobList, *eval.Node) {
	for i := range jobLists {
		if n := workload.First(jobLists[i].Name); n != nil {
			return &jobLists[i], n
		}
	}
	return nil, nil
}

// JobListBlocks names the blocks that list jobs, for a message: ", or a trace block".
func JobListBlocks() (text string) {
	for _, l := range jobLists {
		text += fmt.Sprintf(", or a %s block", l.Name)
	}
	return text
}
