package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
)

// output copies the logs of pods, one after another, to the log of a job. The node adds a time stamp to each line.
// After a lost connection, copying continues at the last line.
type output struct {
	log *launch.Log
	got atomic.Int64 // bytes that have arrived

	last  time.Time // time stamp of the last line
	bytes int       // bytes of the last line that were copied
	// lag is the shortest time from the time stamp of a line to its arrival here, by the two clocks. live is set once
	// a line has arrived while the pod ran.
	lag  time.Duration
	live bool

	stop   context.CancelFunc
	copied chan error // receives the error of copying the log of the present pod; nil if none is copied
}

// start copies the log of another pod until the pod has ended or the context is done. over reports whether the pod has
// ended. done is called when the log is copied.
func (o *output) start(ctx context.Context, k *cluster, pod string, over func() bool, done func()) {
	ctx, o.stop = context.WithCancel(ctx)
	copied := make(chan error, 1)
	o.copied, o.last, o.bytes = copied, time.Time{}, 0
	go func() {
		copied <- o.read(ctx, k, pod, over)
		done()
	}()
}

// logPatience is how long tfexp waits for the next piece of the log of a pod that was taken away, and endPatience for
// the next piece of a log that is to be complete.
const logPatience, endPatience = 5 * time.Second, api.CallLimit

// finish waits until the log of the pod is copied, as long as pieces of it arrive within the patience. It returns why
// the log cannot be read.
func (o *output) finish(patience time.Duration) (err error) {
	if o.copied == nil {
		return nil
	}
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for got := o.got.Load(); ; {
		select {
		case err = <-o.copied:
			o.stop()
			o.copied = nil
			return err
		case <-tick.C:
			now := o.got.Load()
			if now == got {
				o.end()
				return fmt.Errorf("its node did not send the rest within %s", patience)
			}
			got = now
		}
	}
}

// end stops copying the log of the pod.
func (o *output) end() {
	if o.copied != nil {
		o.stop()
		<-o.copied
		o.copied = nil
	}
}

// ended returns when the container of the pod ended. The API has this time in whole seconds; the time stamp of the last
// line may be later, and then is closer. seen is when tfexp saw the end.
func (o *output) ended(t *api.Termination, seen time.Time) time.Time {
	if t == nil || !o.live || t.FinishedAt.IsZero() {
		return seen
	}
	at := t.FinishedAt
	if o.last.After(at) {
		at = o.last
	}
	if at = at.Add(o.lag); at.Before(seen) && seen.Sub(at) < 3*time.Second {
		return at
	}
	return seen
}

// copy copies a stream of lines until it ends. It skips the lines and bytes that were copied before.
func (o *output) copy(stream io.Reader, live bool) error {
	from, skip := o.last, o.bytes
	in := bufio.NewReaderSize(stream, 32<<10)
	inside, copied := false, false // inside: the last line was longer than the buffer, and continues
	for {
		line, err := in.ReadSlice('\n')
		o.got.Add(int64(len(line)))
		if !inside && len(line) > 0 {
			stamp, text, _ := bytes.Cut(line, []byte(" "))
			at, bad := time.Parse(time.RFC3339Nano, string(stamp))
			if copied = bad == nil && !at.Before(from); copied {
				if !at.Equal(from) {
					skip = 0
				}
				line, o.last, o.bytes = text, at, 0
				if lag := time.Since(at); live && (!o.live || lag < o.lag) {
					o.lag, o.live = lag, true
				}
			}
		}
		inside = errors.Is(err, bufio.ErrBufferFull)
		if copied {
			o.bytes += len(line)
			again := min(skip, len(line))
			skip -= again
			o.log.Write(line[again:])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !inside {
			return err
		}
	}
}

// read copies the log of a pod. It reconnects after a lost connection. An error means that the user may not read logs.
func (o *output) read(ctx context.Context, k *cluster, name string, over func() bool) error {
	began := time.Now() // first try since the last answer
	for tries := 0; ctx.Err() == nil; tries++ {
		query := url.Values{"follow": {"true"}, "timestamps": {"true"}, "container": {api.ContainerName}}
		if !o.last.IsZero() {
			query.Set("sinceTime", o.last.UTC().Truncate(time.Second).Format(time.RFC3339))
		}
		ended := over()
		log := k.Call("get", "pods/log", name)
		log.Query = query
		body, err := k.Open(ctx, log)
		if err == nil {
			err = o.copy(body, !ended)
			body.Close()
		}
		switch {
		case err == nil && ended || api.Refused(err, http.StatusNotFound):
			return nil
		case err == nil:
			tries, began = 0, time.Now()
		case api.Refused(err, http.StatusForbidden) && !k.Starting(err, began):
			return err
		}
		api.Pause(ctx, min(100*time.Millisecond<<min(tries, 5), 2*time.Second))
	}
	return nil
}
