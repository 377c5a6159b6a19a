package commands

import (
	"bytes"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

// TestProgressLines: if standard error is no terminal, the progress is printed in lines.
func TestProgressLines(t *testing.T) {
	defer func(pace time.Duration) { linePace = pace }(linePace)
	linePace = 0
	dir := t.TempDir()
	file := writePart(t, dir, "log.hcl")
	writePart(t, dir, "log.swf")
	var out, progress bytes.Buffer
	o := whenOptions{at: "3100s"}
	o.Futures, o.Seed = 20, 1
	if err := when(command.New(&out, &progress), file, nil, &o); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(progress.Bytes()), []byte("\n"))
	if len(lines) != 20 || !bytes.HasPrefix(lines[0], []byte("futures: 1/20 in ")) ||
		!bytes.HasPrefix(lines[19], []byte("futures: 20/20 in ")) {
		t.Errorf("the progress is %q", lines)
	}
}
