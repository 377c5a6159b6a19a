// Package all links in all that tfexp has: stages, engines and policies register themselves. Programs, and tests that
// read or run experiments, import it for that alone: whatever else they import, the language is the same. This file has
// what every experiment needs, features.go the rest.
package all

import (
	// Each registers itself.
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
