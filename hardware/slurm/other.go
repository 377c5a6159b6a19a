//go:build !unix

package slurm

import (
	"errors"
	"runtime"

	"github.com/tfexp/tfexp/hardware/engine"
)

// openSite errs: steps are started through programs of Slurm, which are of Unix.
func openSite(engine.Run) (engine.Site, []string, error) {
	return nil, nil, &engine.Unavailable{
		Engine: kindName,
		Err:    errors.New("Slurm has no programs for " + runtime.GOOS),
		Hint:   "run tfexp on a login node of the cluster",
	}
}
