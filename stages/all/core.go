// Package all links in all parts of tfexp: stages, engines and policies register themselves when it is imported.
// Programs and tests that read or run experiments import it, so that they all have the same language. This file has the
// parts that every experiment needs; features.go has the others.
package all

import (
	// Each of these packages registers itself.
	_ "github.com/tfexp/tfexp/hardware/process"
	_ "github.com/tfexp/tfexp/hardware/simulated"
	_ "github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/stages/estimate"
	_ "github.com/tfexp/tfexp/stages/execute"
	_ "github.com/tfexp/tfexp/stages/plot"
	_ "github.com/tfexp/tfexp/stages/profile"
	_ "github.com/tfexp/tfexp/stages/report"
	_ "github.com/tfexp/tfexp/stages/tables"
)
