package language

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// JobList is a block within workload blocks that lists jobs, besides the submit blocks: a trace.
type JobList struct {
	// Name is the name of the block, and Block describes it.
	Name  string
	Block func() *schema.Block
	// Decode decodes a block of that name; false where it has an error, which is reported.
	Decode func(*Decoder, *eval.Node, *eval.Env) (ListedJobs, bool)
}

// ListedJobs are the jobs of a JobList, whose job blocks are known by name alone.
type ListedJobs interface {
	// Raw returns the jobs without their job blocks.
	Raw() *experiment.Trace
	// JobBlocks returns the names of the job blocks.
	JobBlocks() []string
	// With returns the jobs with these job blocks, in the order of JobBlocks.
	With([]*experiment.Job) *experiment.Trace
}

var jobLists []JobList

// RegisterJobList adds a block. It panics when one of that name exists.
func RegisterJobList(l JobList) {
	Extend(l.Name, Workload, Extension[experiment.Workload]{
		Blocks: func() []*schema.Block { return []*schema.Block{l.Block()} },
		Before: "submit",
	})
	jobLists = append(jobLists, l)
}

// JobListIn returns the list of jobs that a workload block has, and its block; nil for none.
func JobListIn(workload *eval.Node) (*JobList, *eval.Node) {
	for i := range jobLists {
		if n := workload.First(jobLists[i].Name); n != nil {
			return &jobLists[i], n
		}
	}
	return nil, nil
}

// JobListBlocks names the blocks that list jobs: ", or a trace block".
func JobListBlocks() (text string) {
	for _, l := range jobLists {
		text += fmt.Sprintf(", or a %s block", l.Name)
	}
	return text
}
