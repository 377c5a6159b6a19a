// Package all links in the stages that tfexp has. Programs and tests that run
// experiments import it for that alone.
package all

import (
	// Each registers its stages.
	_ "github.com/tfexp/tfexp/stages/adaptation"
	_ "github.com/tfexp/tfexp/stages/clusterspeed"
	_ "github.com/tfexp/tfexp/stages/estimate"
	_ "github.com/tfexp/tfexp/stages/execute"
	_ "github.com/tfexp/tfexp/stages/plot"
	_ "github.com/tfexp/tfexp/stages/plot/deepening"
	_ "github.com/tfexp/tfexp/stages/profile"
	_ "github.com/tfexp/tfexp/stages/reference"
	_ "github.com/tfexp/tfexp/stages/remaining"
	_ "github.com/tfexp/tfexp/stages/report"
	_ "github.com/tfexp/tfexp/stages/servers"
	_ "github.com/tfexp/tfexp/stages/tables"
	_ "github.com/tfexp/tfexp/stages/tuning"
)
