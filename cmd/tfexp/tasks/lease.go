// This file ensures that only one process at a time works on a task.

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

// leaseBeat is the interval at which the process with a lease updates it. After leasePatience without an update,
// another process may take the lease.
const (
	leaseBeat     = time.Second
	leasePatience = 10 * time.Second
	leasePoll     = 500 * time.Millisecond
)

// errLeaseLost is returned when another process has taken the task, or the task was canceled.
var errLeaseLost = errors.New("another process has taken the task, or the task was canceled")

// lease is the right to work on a task. After losing a node or its own state, a batch system may start a task again
// while the first process still runs. The second process then waits for the first one and finds its results.
type lease struct {
	path, own string
	beats     int
}

// hold waits until no other process works on the task, and takes its lease. The returned context ends when the lease is
// lost; release gives the lease back.
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

// take waits until the lease is free, or was not updated for leasePatience, and takes it.
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
			return fmt.Errorf("take the lease of a task: %w", err)
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
			if l.mine() { // if several processes wrote, the last one has the lease
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

// say updates the lease file.
func (l *lease) say() error {
	l.beats++
	if err := folder.Write(l.path, fmt.Appendf(nil, "%s %d\n", l.own, l.beats), 0o644); err != nil {
		return fmt.Errorf("update the lease of a task: %w", err)
	}
	return nil
}

// mine reports whether this process still has the lease. It loses the lease if another process takes it or the task is
// canceled.
func (l *lease) mine() bool {
	now, err := folder.ReadFile(filepath.Split(l.path))
	return err == nil && bytes.HasPrefix(now, []byte(l.own+" "))
}
