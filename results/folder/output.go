package folder

import (
	"bytes"
	"fmt"
	"os/exec"
)

// MostOutput bounds what is taken from another program, in bytes.
const MostOutput = 64 << 20

// Capped keeps what is written to it, and errs when that is more than MostOutput.
type Capped struct{ bytes.Buffer }

// Write implements io.Writer.
func (c *Capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > MostOutput {
		return 0, fmt.Errorf("it printed more than %d MiB", MostOutput>>20)
	}
	return c.Buffer.Write(b)
}

// Output is cmd.Output, but errs when the program prints more than MostOutput bytes.
func Output(cmd *exec.Cmd) ([]byte, error) {
	var out, errs Capped
	if cmd.Stdout = &out; cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	if err := Try("exec", cmd.Path); err != nil {
		return nil, err
	}
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		exit.Stderr = errs.Bytes()
	}
	return out.Bytes(), err
}
