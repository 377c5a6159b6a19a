package folder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
)

// mostLine is the largest length in bytes of a line in a file of JSON lines; an event lists the cores of a job.
const mostLine = 16 << 20

// ReadLine reads a line with its end. It returns an error for a line of more than mostLine bytes.
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
