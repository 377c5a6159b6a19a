package folder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
)

// mostLine is how long a line of a file of JSON lines may be, in bytes: an event lists the cores of a job.
const mostLine = 16 << 20

// ReadLine reads up to the end of a line, which is part of it; it errs at a line of more than mostLine bytes.
func ReadLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) && len(whole) <= mostLine {
		line, err = in.ReadSlice('\n')
		whole = append(whole, line...)
	}
	if len(whole) > mostLine {
		return nil, fmt.Errorf("a line is longer than %d MiB", mostLine>>20)
	}
	return whole, err
}
