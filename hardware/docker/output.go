package docker

import (
	"context"
	"encoding/binary"
	"io"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/tfexp/tfexp/hardware/launch"
)

// followOutput copies a container's output to its log, in a goroutine.
func (jc *jobContainer) followOutput(open func(context.Context) (outputStream, error), ctx context.Context) error {
	s, err := open(ctx)
	if err != nil {
		return err
	}
	followed := make(chan struct{})
	jc.followed = followed
	go func() {
		defer close(followed)
		defer s.close()
		_ = copyOutput(jc.out, s.body) // after an error the output is read again; see awaitExit
	}()
	return nil
}

// logPatience is how long to wait for the remaining output of a container.
const logPatience = 5 * time.Second

func (e *Engine) finishOutput(jc *jobContainer) {
	select {
	case <-jc.followed:
	case <-time.After(logPatience):
	}
}

// rereadOutput copies the output from its start, as the daemon has kept it, after the stream was broken. It skips
// what is in the log already.
func (e *Engine) rereadOutput(jc *jobContainer) {
	<-jc.followed
	jc.out.Reread()
	// If the daemon has kept no output, the log stays as it is.
	_ = jc.followOutput(func(ctx context.Context) (outputStream, error) {
		logs, err := jc.api().ContainerLogs(ctx, jc.id, container.LogsOptions{ShowStdout: true, ShowStderr: true,
			Follow: true})
		if err != nil {
			return outputStream{}, err
		}
		return outputStream{logs, func() { logs.Close() }}, nil
	}, jc.node.callContext())
}

// copyOutput copies a daemon's output stream to a log. The stream has frames: a header (number of the stream, three
// zeros, big-endian length) and data. It returns nil if the stream ends after a whole frame.
func copyOutput(log *launch.Log, r io.Reader) error {
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
