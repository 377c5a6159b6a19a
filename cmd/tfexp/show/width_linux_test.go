package show

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// TestWidthOfATerminal: the width of a terminal is known even behind the writer that removes control characters.
func TestWidthOfATerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("needs pseudo terminals: %v", err)
	}
	defer f.Close()
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 61}); err != nil {
		t.Skipf("needs pseudo terminals: %v", err)
	}
	if got, ok := Columns(live.SafeWriter(f, true)); got != 61 || !ok {
		t.Errorf("%d columns, %v; want 61", got, ok)
	}
}
