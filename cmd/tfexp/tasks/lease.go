// Lease lets one process at a time work on a task.

package tasks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// The interval of signs of life from the worker of a task, and the silence after which another may take the
// task.
const (
	leaseBeat     = time.Second
	leasePatience = 10 * time.Second
	leasePoll     = 500 * time.Millisecond
)

// errLeaseLost ends the work on a task that another process has taken, or that is not wanted any more.
var errLeaseLost = errors.New("the task was taken over, or is not wanted any more")

// lease is the right to work on a task. A batch system that has lost its memory, or a node, may start a task again
// while the first process still runs: then the second waits for the end of the first, and finds its results.
type lease struct {
	path, own string
	beats     int
}

// hold waits until no other process works on a task. The context that it returns ends when the lease is lost;
// release gives it back.
func hold(ctx context.Context, dir string, number int) (within context.Context, release func(), err error) {
	host, _ := os.Hostname()
	l := &lease{
		path: taskFile(dir, number, ".lease"), own: fmt.Sprintf("%s %d %016x", host, os.Getpid(), rand.Uint64()),
	}
	if err := l.take(ctx); err != nil {
		return nil, nil, err
	}
	within, stop := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() {
		for {
			select {
			case <-within.Done():
				return
			case <-time.After(leaseBeat):
			}
			if !l.mine() || l.say() != nil {
				stop(errLeaseLost)
				return
			}
		}
	})
	return within, func() {
		stop(nil)
		beating.Wait()
		if l.mine() {
			folder.Remove(l.path)
		}
	}, nil
}

// take takes the lease if nobody holds it, or if its holder has been silent for too long.
func (l *lease) take(ctx context.Context) error {
	var last []byte
	heard := time.Now()
	for {
		f, err := folder.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			err = f.Close()
			if err == nil {
				err = l.say()
			}
			return err
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("take a task: %w", err)
		}
		if now, err := folder.ReadFile(filepath.Split(l.path)); err == nil && !bytes.Equal(now, last) {
			last, heard = now, time.Now()
		}
		if time.Since(heard) > leasePatience {
			if err := l.say(); err != nil {
				return err
			}
			if err := l.wait(ctx); err != nil {
				return err
			}
			if l.mine() { // of several processes, the last to write
				return nil
			}
			heard = time.Now()
		}
		if err := l.wait(ctx); err != nil {
			return err
		}
	}
}

func (l *lease) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(leasePoll):
		return nil
	}
}

// say writes a sign of life of the holder.
func (l *lease) say() error {
	l.beats++
	if err := folder.Write(l.path, fmt.Appendf(nil, "%s %d\n", l.own, l.beats), 0o644); err != nil {
		return fmt.Errorf("hold a task: %w", err)
	}
	return nil
}

// mine reports whether no other process has taken the lease, and the task is still wanted.
func (l *lease) mine() bool {
	now, err := folder.ReadFile(filepath.Split(l.path))
	return err == nil && bytes.HasPrefix(now, []byte(l.own+" "))
}
