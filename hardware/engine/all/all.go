// Package all links in the engines that tfexp has. Programs and tests that read experiments import it for that alone.
package all

import (
	// Each registers its kind.
	_ "github.com/tfexp/tfexp/hardware/docker"
	_ "github.com/tfexp/tfexp/hardware/process"
	_ "github.com/tfexp/tfexp/hardware/recorded"
	_ "github.com/tfexp/tfexp/hardware/simulated"
	_ "github.com/tfexp/tfexp/hardware/slurm"
)
