package scheduler_test

import (
	_ "github.com/tfexp/tfexp/stages/planned" // policies of features are among those that are tested
	_ "github.com/tfexp/tfexp/stages/published"
)
