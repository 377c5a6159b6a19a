package language

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Programs returns the names of the blocks that are programs of jobs, in place of a command.
func Programs() []string {
	return schema.Each(schema.Where(of(Job), func(x extension) bool { return x.program != "" }),
		func(x extension) string { return x.program })
}

// ProgramIn returns the block of a job that is its program; nil for a job without such a block.
func ProgramIn(job *eval.Node) *eval.Node {
	for _, name := range Programs() {
		if n := job.First(name); n != nil {
			return n
		}
	}
	return nil
}

// DecodeProgram lets the feature of a block that is a job's program decode it. The arguments of the job have been decoded.
func (d *Decoder) DecodeProgram(j *experiment.Job, program *eval.Node, b Block) {
	for _, x := range of(Job) {
		if x.program == program.Schema.Name {
			x.decodeProgram(d, b, j)
		}
	}
}
