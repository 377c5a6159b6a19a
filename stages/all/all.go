// Package all links in the stages that tfexp has. Programs and tests that run
// experiments import it for that alone.
package all

import (
	// Each registers its stage.
	_ "github.com/tfexp/tfexp/stages/clusterspeed"
	_ "github.com/tfexp/tfexp/stages/deepen"
	_ "github.com/tfexp/tfexp/stages/estimate"
	_ "github.com/tfexp/tfexp/stages/execute"
	_ "github.com/tfexp/tfexp/stages/fidelity"
	_ "github.com/tfexp/tfexp/stages/learn"
	_ "github.com/tfexp/tfexp/stages/plot"
	_ "github.com/tfexp/tfexp/stages/plot/deepening"
	_ "github.com/tfexp/tfexp/stages/plot/estimates"
	_ "github.com/tfexp/tfexp/stages/plot/servers"
	_ "github.com/tfexp/tfexp/stages/plot/tuning"
	_ "github.com/tfexp/tfexp/stages/profile"
	_ "github.com/tfexp/tfexp/stages/rank"
	_ "github.com/tfexp/tfexp/stages/reference"
	_ "github.com/tfexp/tfexp/stages/remaining"
	_ "github.com/tfexp/tfexp/stages/report"
	_ "github.com/tfexp/tfexp/stages/tables"
)
