package tasks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// held takes the lease of task 3 of a folder.
func held(t *testing.T, dir string) (context.Context, func()) {
	t.Helper()
	ctx, release, err := hold(t.Context(), dir, 3)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, release
}

func taskFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, arrayDir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A second holder waits until the first has ended, however long the first works.
func TestLeaseIsWaitedFor(t *testing.T) {
	dir := taskFolder(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		first, release := held(t, dir)
		go func() {
			time.Sleep(5 * time.Minute)
			release()
		}()
		second, done := held(t, dir)
		if waited := time.Since(began); waited < 5*time.Minute || waited > 5*time.Minute+2*leasePoll {
			t.Errorf("the second began after %s", waited)
		}
		if first.Err() == nil || errors.Is(context.Cause(first), errLeaseLost) || second.Err() != nil {
			t.Error(context.Cause(first), second.Err())
		}
		done()
		if _, err := os.Stat(taskFile(dir, 3, ".lease")); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

// The lease of a dead process is taken over. A process that was only stopped ends its work when it notices this.
func TestLeaseOfTheDead(t *testing.T) {
	dir := taskFolder(t)
	synctest.Test(t, func(t *testing.T) {
		if err := os.WriteFile(taskFile(dir, 3, ".lease"), []byte("n1 17 0 4\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, release := held(t, dir)
		if waited := time.Since(began); waited < leasePatience || waited > leasePatience+4*leasePoll {
			t.Errorf("it was taken after %s", waited)
		}
		if err := os.WriteFile(taskFile(dir, 3, ".lease"), []byte("n2 17 1 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), errLeaseLost) {
			t.Error(context.Cause(ctx))
		}
		release() // this does not release the other's lease
		if _, err := os.Stat(taskFile(dir, 3, ".lease")); err != nil {
			t.Error(err)
		}
	})
}

// If the folder of a task was removed because its cells are in the results, the task ends.
func TestLeaseOfNothing(t *testing.T) {
	dir := taskFolder(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, release := held(t, dir)
		if err := os.RemoveAll(filepath.Join(dir, arrayDir)); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		release()
		if !errors.Is(context.Cause(ctx), errLeaseLost) {
			t.Error(context.Cause(ctx))
		}
		if _, _, err := hold(t.Context(), dir, 3); err == nil {
			t.Error("a task without a folder was held")
		}
	})
}

// If a task is started twice, its cells run once, and its result is written.
func TestTaskStartedTwice(t *testing.T) {
	dir := taskFolder(t)
	task := stages.Task{Setup: record.Setup{Cell: record.CellRef{Cell: "c", Key: "k", Simulated: true}}}
	task.Setup.Cell.Engine = "simulated"
	err := writeCells(taskFile(dir, 3, cellsEnding), func(add func(stages.Task, string) error) error {
		return add(task, "description")
	})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		run := func(context.Context, stages.Task, string) (record.Cell, error) {
			ran++
			time.Sleep(time.Minute)
			return record.Cell{CellRef: task.Setup.Cell, State: record.CellFinished}, nil
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := runCells(t.Context(), dir, 3, nil, run); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if x, ok := readTaskExit(dir, 3); !ok || ran != 1 || x.Cells != 1 || x.Ran != 0 {
			t.Errorf("%d cells ran; the second left %+v", ran, x)
		}
	})
}
