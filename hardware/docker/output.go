package docker

import (
	"encoding/binary"
	"io"

	"github.com/tfexp/tfexp/hardware/launch"
)

// follow copies a daemon's stream of output to its end into a log: frames of a header
// (the stream's number, three zeros, the length in big-endian order) and data.
// The error is nil at a proper end.
func follow(log *launch.Log, r io.Reader) error {
	var header [8]byte
	buf := make([]byte, 32<<10)
	for {
		if _, err := io.ReadFull(r, header[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for left := int64(binary.BigEndian.Uint32(header[4:])); left > 0; {
			n, err := io.ReadFull(r, buf[:min(left, int64(len(buf)))])
			log.Write(buf[:n])
			if err != nil {
				return err
			}
			left -= int64(n)
		}
	}
}
