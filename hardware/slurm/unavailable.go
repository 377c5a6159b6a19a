package slurm

import (
	"errors"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
)

// Engine is what experiments call the engine, and --on the batch system.
const EngineName = "slurm"

// SharedPatience is how long a node is waited for that looks whether the folder of results is shared.
const SharedPatience = 5 * time.Second

// Unavailable returns the error that something cannot be had, with what to do about it.
func Unavailable(err error, hint string) error {
	return &engine.Unavailable{Engine: EngineName, Err: err, Hint: hint}
}

// Explained makes an error that says what to do of one of the cluster; nil of nil.
func Explained(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*engine.Unavailable)):
		return err
	case errors.Is(err, ErrNotShared):
		return Unavailable(err, SharedHint)
	case Missing() != nil:
		return Unavailable(err, MissingHint)
	}
	return Unavailable(err, Hint(err))
}
