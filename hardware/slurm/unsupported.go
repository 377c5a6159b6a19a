//go:build !unix

package slurm

import (
	"context"
	"errors"
	"runtime"

	"github.com/tfexp/tfexp/hardware/engine"
)

// session is unused on this system: the engine needs Slurm's programs, which run on Unix only.
type session struct{}

func openSession(engine.Run) (engine.Session, []string, error) { return session{}, nil, nil }

func (session) Engine(context.Context, engine.Task) (engine.Engine, error) {
	return nil, &engine.Unavailable{
		Engine: kindName,
		Err:    errors.New("Slurm has no programs for " + runtime.GOOS),
		Hint:   "run tfexp on a login node of the cluster",
	}
}

func (session) Local(*engine.Hardware) bool { return false }
func (session) Close() error                { return nil }
