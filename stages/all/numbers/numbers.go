// Package numbers links in the stages that leave numbers: all but the
// pictures and the report, which show them.
package numbers

import (
	// Each registers its stage.
	_ "github.com/tfexp/tfexp/stages/clusterspeed"
	_ "github.com/tfexp/tfexp/stages/deepen"
	_ "github.com/tfexp/tfexp/stages/estimate"
	_ "github.com/tfexp/tfexp/stages/execute"
	_ "github.com/tfexp/tfexp/stages/fidelity"
	_ "github.com/tfexp/tfexp/stages/learn"
	_ "github.com/tfexp/tfexp/stages/profile"
	_ "github.com/tfexp/tfexp/stages/rank"
	_ "github.com/tfexp/tfexp/stages/reference"
	_ "github.com/tfexp/tfexp/stages/remaining"
	_ "github.com/tfexp/tfexp/stages/tables"
)
