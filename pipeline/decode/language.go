package decode

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// The reference of the language is made from the comments of these files, which document blocks and their arguments.
//
//go:embed alternative.go
//go:embed compare.go
//go:embed engines.go
//go:embed experiment.go
//go:embed matrix.go
//go:embed runtime.go
//go:embed threads.go
//go:embed threshold.go
//go:embed workload.go
var documented embed.FS

var _ = schema.Document("decode", documented)

// Language returns the schema of an experiment file, with all blocks that a file may have. Each call makes it again,
// because it includes what other packages have registered: engines, policies, trace formats, controllers, metrics,
// pictures, stages.
func Language() *schema.Block {
	file := &schema.Block{
		Blocks: []*schema.Block{
			language.Extended(language.Experiment, schema.BlockFor[experiment.Spec](schema.Block{
				Name: "experiment", Label: "name of the experiment, and of its folder of results", Single: true, Required: true,
			})),
			variableBlock(), localsBlock, jobBlock(), workloadBlock(), hardwareBlock(),
			policyBlock(), matrixBlock(),
			schema.BlockFor[experiment.Profile](schema.Block{Name: "profile", Single: true}),
			schema.BlockFor[experiment.Estimate](schema.Block{Name: "estimate", Single: true}),
			compareBlock(), plotBlock(), thresholdBlock(),
		},
	}
	for _, b := range schema.AllBrought("") {
		file.Blocks = append(file.Blocks, b.Block)
	}
	return language.Extended(language.File, file)
}
