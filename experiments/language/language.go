// Package language holds the tables of the experiment language: which blocks
// there are, which arguments they take, what those mean. The decoder in package
// experiments, its errors for unknown names and docs/language.md all read these
// tables, so that they cannot disagree. What engines, policies, trace formats,
// metrics, pictures and stages add to the language comes from their registries, each
// time that a table is asked for.
package language

//go:generate go test github.com/tfexp/tfexp/experiments -run TestReference -update

import "github.com/tfexp/tfexp/experiments/schema"

// File returns the body of an experiment file: all blocks that a file may have.
// It is made anew at each call, because what other packages register (engines,
// policies, trace formats, controllers, metrics, pictures, stages) is part of it.
func File() *schema.Block {
	file := &schema.Block{
		Blocks: []*schema.Block{
			experimentBlock, variableBlock, localsBlock, jobBlock(), workloadBlock(), hardwareBlock(),
			policyBlock(), adaptationBlock(), matrixBlock, tuneBlock(), profileBlock, estimateBlock, compareBlock(), plotBlock(),
			thresholdBlock(), referenceBlock(),
		},
	}
	for _, b := range StageBlocks() {
		file.Blocks = append(file.Blocks, b.Block)
	}
	return file
}
