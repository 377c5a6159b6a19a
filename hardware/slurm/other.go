//go:build !unix

package slurm

import (
	"context"
	"errors"
	"runtime"

	"github.com/tfexp/tfexp/hardware/engine"
)

// site has no engines: steps are started through programs of Slurm, which are of Unix.
type site struct{}

func openSite(engine.Run) (engine.Site, []string, error) { return site{}, nil, nil }

func (site) Engine(context.Context, engine.Task) (engine.Engine, error) {
	return nil, &engine.Unavailable{
		Engine: kindName,
		Err:    errors.New("Slurm has no programs for " + runtime.GOOS),
		Hint:   "run tfexp on a login node of the cluster",
	}
}

func (site) Local(*engine.Hardware) bool { return false }
func (site) Close() error                { return nil }
