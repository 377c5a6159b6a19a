package folder

import (
	"bytes"
	"fmt"
	"os/exec"
)

// MostOutput bounds the output taken from another program, in bytes.
const MostOutput = 64 << 20

// capped collects the bytes written to it, and errs above MostOutput.
type capped struct {
	kept bytes.Buffer
	err  error
}

func (c *capped) Write(b []byte) (int, error) {
	if c.kept.Len()+len(b) > MostOutput {
		c.err = fmt.Errorf("it printed more than %d MiB", MostOutput>>20)
		return 0, c.err
	}
	return c.kept.Write(b)
}

// Output is cmd.Output, but errs when the program prints more than MostOutput bytes, and ends it then. It returns
// the program's standard error as well.
func Output(cmd *exec.Cmd) (out, errs []byte, err error) {
	var said, warned capped
	cmd.Stdout, cmd.Stderr = &said, &warned
	if err := Try("exec", cmd.Path); err != nil {
		return nil, nil, err
	}
	err = cmd.Run()
	for _, c := range []*capped{&said, &warned} {
		if c.err != nil {
			err = c.err
		}
	}
	return said.kept.Bytes(), warned.kept.Bytes(), err
}
