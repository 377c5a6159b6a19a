// Package all links in the stages that tfexp has. Programs and tests that run
// experiments import it for that alone.
package all

import (
	// Each registers its stages.
	_ "github.com/tfexp/tfexp/stages/all/numbers"
	_ "github.com/tfexp/tfexp/stages/plot"
	_ "github.com/tfexp/tfexp/stages/plot/deepening"
	_ "github.com/tfexp/tfexp/stages/report"
	_ "github.com/tfexp/tfexp/stages/servers"
	_ "github.com/tfexp/tfexp/stages/tuning"
)
