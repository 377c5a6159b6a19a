// Package all links in all that tfexp has: stages, engines and policies register themselves. Programs, and tests that
// read or run experiments, import it for that alone: whatever else they import, the language is the same.
package all

import (
	// Each registers itself.
	_ "github.com/tfexp/tfexp/hardware/docker"
	_ "github.com/tfexp/tfexp/hardware/process"
	_ "github.com/tfexp/tfexp/hardware/recorded"
	_ "github.com/tfexp/tfexp/hardware/simulated"
	_ "github.com/tfexp/tfexp/hardware/slurm"
	_ "github.com/tfexp/tfexp/scheduler/batch"
	_ "github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/stages/adaptation"
	_ "github.com/tfexp/tfexp/stages/clusterspeed"
	_ "github.com/tfexp/tfexp/stages/estimate"
	_ "github.com/tfexp/tfexp/stages/execute"
	_ "github.com/tfexp/tfexp/stages/external"
	_ "github.com/tfexp/tfexp/stages/plot"
	_ "github.com/tfexp/tfexp/stages/profile"
	_ "github.com/tfexp/tfexp/stages/reference"
	_ "github.com/tfexp/tfexp/stages/remaining"
	_ "github.com/tfexp/tfexp/stages/report"
	_ "github.com/tfexp/tfexp/stages/servers"
	_ "github.com/tfexp/tfexp/stages/size"
	_ "github.com/tfexp/tfexp/stages/tables"
	_ "github.com/tfexp/tfexp/stages/tuning"
	_ "github.com/tfexp/tfexp/stages/twin"
)
