//go:build !unix

package process

import (
	"errors"
	"runtime"

	"github.com/tfexp/tfexp/hardware/engine"
)

// openSite errs: what pauses, binds and ends jobs is missing on this system.
func openSite(engine.Run) (engine.Site, []string, error) {
	return nil, nil, &engine.Unavailable{
		Engine: kindName,
		Err:    errors.New(runtime.GOOS + " cannot pause, bind and end programs as it needs"),
		Hint: `simulate the experiment (engine = "simulated"), or run it on Linux or macOS; ` +
			"on Windows the Subsystem for Linux will do",
	}
}

// Main does what a second process of this program is started for: here, nothing.
func Main([]string) (handled bool, code int) { return false, 0 }

// BindTree does nothing: processes are not bound to cores on this system.
func BindTree(int, []int) error { return nil }
