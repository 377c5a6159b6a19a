package language

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Programs returns the names of the blocks that can be a job's program, instead of a command.
func Programs() []string {
	return schema.Each(schema.Where(of(Job), func(x extension) bool { return x.program != "" }),
		func(x extension) string { return x.program })
}

// ProgramIn returns the block of a job that is its program; nil if it has none.
func ProgramIn(job *eval.Node) *eval.Node {
	for _, name := range Programs() {
		if n := job.First(name); n != nil {
			return n
		}
	}
	return nil
}

// DecodeProgram calls the feature whose block is a job's program. The arguments of the job are decoded.
func (d *Decoder) DecodeProgram(j *experiment.Job, program *eval.Node, b Block) {
	for _, x := range of(Job) {
		if x.program == program.Schema.Name {
			x.decodeProgram(d, b, j)
		}
	}
}
