// This file runs the cells of a task on a node.

package tasks

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
)

// cellsEnding is the ending of the compressed file with a task's cells. Before each cell is its length in bytes.
const cellsEnding = ".cells"

// maxCell is the largest size of a cell in such a file, in bytes.
const maxCell = 1 << 30

// writeCells writes the cells of a task into a file. each calls add for every cell.
func writeCells(path string, each func(add func(t stages.Task, key string) error) error) (err error) {
	f, err := folder.Create(path)
	if err != nil {
		return fmt.Errorf("write cells to a file: %w", err)
	}
	w := s2.NewWriter(f)
	defer func() { err = errors.Join(err, w.Close(), f.Close()) }()
	return each(func(t stages.Task, key string) error {
		var b bytes.Buffer
		if err := writeTask(&b, t, key); err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, uint32(b.Len())); err != nil {
			return fmt.Errorf("write cells to a file: %w", err)
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

// nextCell reads the next cell of a task. The error is io.EOF after the last one.
func nextCell(from io.Reader) (t stages.Task, key string, err error) {
	var n uint32
	if err := binary.Read(from, binary.LittleEndian, &n); err != nil {
		return t, "", err
	}
	if n > maxCell {
		return t, "", errors.New("read a cell: its file is damaged")
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(from, raw); err != nil {
		return t, "", fmt.Errorf("read a cell: %w", err)
	}
	return readTask(bytes.NewReader(raw))
}

// work runs the incomplete cells of task number in the experiment's folder dir. While another process works on the
// task, it waits. Simulated cells run in parallel on the available cores. At the end it writes a record of the task
// atomically; if interrupted, it writes none. prepare empties the folder of a cell, except for the description of its
// key. complete reports whether a folder has a complete cell with this description.
func work(ctx context.Context, dir string, number int, prepare func(dir, description string) error,
	complete func(dir, description string) bool) error {
	return runCells(ctx, dir, number, complete,
		func(ctx context.Context, t stages.Task, description string) (record.Cell, error) {
			return runWritten(ctx, t, description, prepare)
		})
}

func runCells(ctx context.Context, dir string, number int, complete func(dir, description string) bool,
	run func(ctx context.Context, t stages.Task, description string) (record.Cell, error)) error {
	ctx, release, err := hold(ctx, dir, number)
	if err != nil {
		return err
	}
	defer release()
	began := time.Now()
	f, err := folder.Open(filepath.Split(taskFile(dir, number, cellsEnding)))
	if err != nil {
		return fmt.Errorf("read the cells of a task: %w", err)
	}
	defer f.Close()
	x := taskExit{}
	x.Host, _ = os.Hostname()
	journal, err := openTaskJournal(dir, number)
	if err != nil {
		return err
	}
	defer journal.file.Close()
	kept, err := openTaskShard(dir, number)
	if err != nil {
		return err
	}
	defer kept.Close()
	var mu sync.Mutex // guards x
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := s2.NewReader(f); within.Err() == nil; {
		t, key, err := nextCell(from)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		x.Cells++
		g.Go(func() error {
			if t.Dir == "" && kept.has(t) || t.Dir != "" && complete(t.Dir, key) {
				return nil
			}
			cell, err := run(within, t, key)
			if err == nil && t.Dir == "" {
				err = kept.add(cell, key)
			}
			if err != nil {
				return fmt.Errorf("cell %s: %w", t.Setup.Cell.Cell, err)
			}
			mu.Lock()
			defer mu.Unlock()
			x.Ran++
			if cell.State != record.CellFinished {
				x.Failed++
			}
			return journal.add(t.Setup.Cell.Cell, cell)
		})
	}
	err = g.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if err := kept.Close(); err != nil {
		return err
	}
	x.Ended, x.Seconds = time.Now().Format(time.RFC3339), time.Since(began).Seconds()
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	if err := folder.Write(taskFile(dir, number, ".json"), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the record of a task: %w", err)
	}
	return nil
}

// taskShard is the shard in which a task records cells without a folder. Each process uses a new shard, because an
// earlier process of the same task may still run.
type taskShard struct {
	dir, prefix string
	earlier     *record.Shards // shards of earlier processes of this task

	mu  sync.Mutex // guards the fields below
	own *record.ShardWriter
}

func openTaskShard(dir string, number int) (*taskShard, error) {
	s := &taskShard{dir: dir, prefix: fmt.Sprintf("task-%d", number)}
	var err error
	s.earlier, err = record.OpenShards(dir, s.prefix+"-")
	return s, err
}

// has reports whether an earlier process of this task has finished the cell.
func (s *taskShard) has(t stages.Task) bool {
	at, ok := s.earlier.Find(t.Setup.Cell.Cell, t.Setup.Cell.Key)
	return ok && at.State == record.CellFinished
}

// add writes the result of a cell that has ended.
func (s *taskShard) add(c record.Cell, description string) (err error) {
	s.mu.Lock()
	if s.own == nil {
		s.own, err = record.CreateShard(s.dir, s.prefix)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = s.own.Add(record.ShardLine{Cell: c.Cell, DependsOn: description, Result: c})
	return err
}

// Close writes all cells to the disk and closes the shard.
func (s *taskShard) Close() error {
	own := s.own
	s.own = nil
	return own.Close()
}

// taskJournal is the journal of a task. It has a line for each cell that the task has run.
type taskJournal struct{ file *folder.File }

func openTaskJournal(dir string, number int) (taskJournal, error) {
	f, err := folder.OpenFile(taskFile(dir, number, ".jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return taskJournal{}, fmt.Errorf("open the journal of a task: %w", err)
	}
	return taskJournal{f}, nil
}

// add writes the line of a cell with a single write.
func (j taskJournal) add(name string, c record.Cell) error {
	line, err := json.Marshal(struct {
		Time    time.Time `json:"time"`
		Event   string    `json:"event"`
		Unit    string    `json:"unit"`
		State   string    `json:"state"`
		Text    string    `json:"text,omitempty"`
		Seconds float64   `json:"seconds"`
		Key     string    `json:"key"`
	}{time.Now(), "cell_end", name, c.State, c.Error, c.Seconds, c.Key})
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the journal of a task: %w", err)
	}
	return nil
}

// runWritten runs a cell that was read from a task file.
func runWritten(
	ctx context.Context, task stages.Task, key string, prepare func(dir, description string) error,
) (record.Cell, error) {
	if task.Dir != "" { // cells without a folder go into a shard
		if err := prepare(task.Dir, key); err != nil {
			return record.Cell{}, err
		}
	}
	if !task.Setup.Cell.Real() {
		return execute.Simulate(ctx, task, nil)
	}
	return runReal(ctx, task)
}

// runReal runs a real cell. It opens an engine for this cell only, because other tasks may run cells of the same
// experiment.
func runReal(ctx context.Context, task stages.Task) (cell record.Cell, err error) {
	kind := engine.Find(task.Hardware.Kind)
	if kind == nil {
		return cell, fmt.Errorf("there is no engine %q", task.Hardware.Kind)
	}
	own := task.Scratch + ".engine"
	if err := folder.MkdirAll(own, 0o755); err != nil {
		return cell, fmt.Errorf("make a folder for the engine: %w", err)
	}
	site, _, err := kind.Open(engine.Run{
		Dir: own, Hardware: []*engine.Hardware{task.ForEngine()}, GPUs: hardware.GPUs,
		Lock: func(string) (func(), bool) { return nil, false },
	})
	if err != nil {
		return cell, fmt.Errorf("open the engine %s: %w", kind.Name, err)
	}
	cell, err = execute.Real(ctx, task, execute.Machine{Site: site}, nil)
	return cell, errors.Join(err, site.Close(), folder.RemoveAll(own))
}
