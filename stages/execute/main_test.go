//go:build unix

package execute

import (
	"os"
	"testing"

	"github.com/tfexp/tfexp/hardware/process"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Setenv(KeepDisturbed, "1") // tests run in parallel and disturb each other
	os.Exit(m.Run())
}
