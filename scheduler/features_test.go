package scheduler_test

import (
	_ "github.com/tfexp/tfexp/stages/planned" // its policies are tested too
	_ "github.com/tfexp/tfexp/stages/published"
)
