package decode

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
)

// The comments of these files document blocks and their arguments.
//
//go:embed adaptation.go alternative.go builtin.go checkpoint.go clusterspeed.go compare.go elastic.go
//go:embed engines.go experiment.go matrix.go progress.go recorded.go reference.go roles.go
//go:embed runtime.go size.go threads.go threshold.go trace.go tune.go workload.go
var documented embed.FS

var _ = schema.Document("decode", documented)

// Language returns the body of an experiment file: all blocks that a file may have.
// It is made anew at each call, because what other packages register (engines,
// policies, trace formats, controllers, metrics, pictures, stages) is part of it.
func Language() *schema.Block {
	file := &schema.Block{
		Blocks: []*schema.Block{
			experimentBlock(), variableBlock(), localsBlock, jobBlock(), workloadBlock(), hardwareBlock(),
			policyBlock(), adaptationBlock(), matrixBlock(), tuneBlock(), profileBlock(), estimateBlock(),
			compareBlock(), plotBlock(), thresholdBlock(), referenceBlock(), sizeBlock(),
		},
	}
	for _, b := range schema.AllBrought("") {
		file.Blocks = append(file.Blocks, b.Block)
	}
	return file
}
