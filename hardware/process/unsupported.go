//go:build !unix

package process

import (
	"context"
	"errors"
	"runtime"

	"github.com/tfexp/tfexp/hardware/engine"
)

// runsHere reports whether this system can run jobs as processes.
const runsHere = false

// session has no engine, because this system cannot pause, bind and end jobs as needed.
type session struct{}

func openSession(engine.Run) (engine.Session, []string, error) { return session{}, nil, nil }

func (session) Engine(context.Context, engine.Task) (engine.Engine, error) {
	return nil, &engine.Unavailable{
		Engine: kindName,
		Err:    errors.New(runtime.GOOS + " cannot pause, bind and end programs as the engine needs"),
		Hint: `simulate the experiment (engine = "simulated"), or run it on Linux or macOS; ` +
			"on Windows the Subsystem for Linux will do",
	}
}

func (session) Local(*engine.Hardware) bool { return true }
func (session) Close() error                { return nil }

func groupHome() string      { return "" }
func canAdopt() bool         { return false }
func missingFeature() string { return "" }

// Main would run the guardian, which does not exist on this system.
func Main([]string) (handled bool, code int) { return false, 0 }

// BindTree does nothing, because processes cannot be bound to cores on this system.
func BindTree(int, []int) error { return nil }
