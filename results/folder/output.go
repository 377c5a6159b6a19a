package folder

import (
	"bytes"
	"fmt"
	"os/exec"
)

// MostOutput is the largest output in bytes that is accepted from another program.
const MostOutput = 64 << 20

// capped collects the bytes written to it. It returns an error above MostOutput.
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

// Output is like cmd.Output, but ends a program that prints more than MostOutput bytes, with an error. It also
// returns the program's standard error.
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
