package tasks

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
)

// miss updates gone with the open tasks that are not in the queue any more. alive has the numbers of tasks in the
// queue, by job.
func (a *array) miss(alive map[string][]int) {
	for _, n := range a.open {
		if slices.Contains(alive[a.Tasks[n].Job], n) {
			delete(a.gone, n)
		} else if a.gone[n].IsZero() {
			a.gone[n] = time.Now()
		}
	}
}

// resubmit submits lost tasks again with their incomplete cells. Cells whose task was lost maxLost times fail.
func (a *array) resubmit(ctx context.Context) error {
	var again [2][]int
	for _, n := range slices.Clone(a.open) {
		if since := a.gone[n]; since.IsZero() || time.Since(since) < fileGrace {
			continue
		}
		whole, err := a.take(n)
		if err != nil {
			return err
		}
		if whole {
			a.closeTask(n)
			continue
		}
		t := &a.Tasks[n]
		if t.Lost++; t.Lost >= maxLost {
			if err := a.giveUp(n); err != nil {
				return err
			}
			continue
		}
		kind := 0
		if t.Real {
			kind = 1
		}
		folder.Remove(taskFile(a.dir, n, ".json"))
		again[kind] = append(again[kind], n)
		delete(a.gone, n)
		if err := a.run.Note(stages.Note{Event: "task_lost", Unit: fmt.Sprint(n), Text: a.lastWord(n)}); err != nil {
			return err
		}
	}
	for kind, tasks := range again {
		if len(tasks) == 0 {
			continue
		}
		r, err := a.request(tasks, kind == 1)
		if err != nil {
			return err
		}
		if err := a.send(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// giveUp records the incomplete cells of a task as failed.
func (a *array) giveUp(n int) error {
	for _, c := range a.Tasks[n].Cells {
		i, open := a.plan[c.Cell]
		if !open {
			continue
		}
		delete(a.plan, c.Cell)
		dir, err := a.run.Begin(i)
		if err != nil {
			return err
		}
		task, err := a.run.Cell(i).Task(stages.Folders{Dir: dir})
		if err != nil {
			return err
		}
		why := fmt.Errorf("its task was lost %d times on %s", a.Tasks[n].Lost, a.On)
		if last := a.lastWord(n); last != "" {
			why = fmt.Errorf("%w; its last output: %s", why, last)
		}
		cell, err := execute.Fail(task, why)
		if err == nil && a.run.Sharded(i) {
			err = a.run.AddToShard(i, cell)
		}
		if err != nil {
			return err
		}
		if err := a.over(i, cell, 0); err != nil {
			return err
		}
	}
	a.closeTask(n)
	return nil
}

// lastWord returns the last line that a task printed.
func (a *array) lastWord(n int) string {
	dir, name := filepath.Split(taskFile(a.dir, n, ".out"))
	last, err := folder.Tail(dir, 1, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(last)
}
