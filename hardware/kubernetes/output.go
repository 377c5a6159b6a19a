package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
)

// output copies the log of a pod. Each line has the instant at which the node read it. After a lost connection, copying
// continues from the instant of the last line.
type output struct {
	log *launch.Log

	last  time.Time // of the last line
	bytes int       // of the last line that were copied
	// lag is the shortest time from the reading of a line on its node to its arrival here, by the two clocks; live
	// reports whether lines arrived while the pod ran.
	lag  time.Duration
	live bool
}

// mostStamp is the length of the longest time stamp, with the space after it.
const mostStamp = len(time.RFC3339Nano) + 1

// copy copies a stream to its end. Lines that were copied before are skipped.
func (o *output) copy(stream io.Reader, live bool) error {
	from, skip := o.last, o.bytes
	var stamp []byte // of the line, so far
	begun, copied := false, false
	buf := make([]byte, 32<<10)
	for {
		n, err := stream.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			if !begun {
				end := bytes.IndexByte(b, ' ')
				if end < 0 {
					stamp = append(stamp, b...)
					b = nil
				} else {
					stamp = append(stamp, b[:end]...)
					b = b[end+1:]
				}
				if end < 0 && len(stamp) <= mostStamp {
					continue
				}
				at, bad := time.Parse(time.RFC3339Nano, string(stamp))
				begun, copied, stamp = true, bad == nil && !at.Before(from), nil
				if copied {
					if !at.Equal(from) {
						o.bytes, skip = 0, 0
					} else {
						o.bytes = 0
					}
					o.last = at
					if lag := time.Since(at); live && (!o.live || lag < o.lag) {
						o.lag, o.live = lag, true
					}
				}
			}
			line := b
			if end := bytes.IndexByte(b, '\n'); end >= 0 {
				line, begun = b[:end+1], false
			}
			b = b[len(line):]
			if !copied {
				continue
			}
			o.bytes += len(line)
			again := min(skip, len(line))
			skip -= again
			o.log.Write(line[again:])
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// read copies the log of a pod until its end, or until the context is done. It begins again after a lost connection.
// over reports whether the pod has ended. An error means that the user may not read logs.
func (o *output) read(ctx context.Context, k *cluster, name string, over func() bool) error {
	began := time.Now() // to try, since the last answer
	for tries := 0; ; tries++ {
		query := url.Values{"follow": {"true"}, "timestamps": {"true"}}
		if !o.last.IsZero() {
			query.Set("sinceTime", o.last.UTC().Truncate(time.Second).Format(time.RFC3339))
		}
		ended := over()
		body, err := k.open(ctx, call{verb: "get", resource: "pods/log", namespace: k.namespace, name: name, query: query})
		if err == nil {
			err = o.copy(body, !ended)
			body.Close()
			if err == nil && ended {
				return nil
			}
			if err == nil {
				tries, began = 0, time.Now()
			}
		}
		if refused(err, http.StatusForbidden) && !k.starts(err, began) {
			return err
		}
		if ctx.Err() != nil || refused(err, http.StatusNotFound) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(100*time.Millisecond<<min(tries, 5), 2*time.Second)):
		}
	}
}
