//go:build unix

package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
)

// noteFile is the file in the folder of results that lists the allocations of a run. If the run is killed, the next run
// cancels them.
const noteFile = "slurm.json"

// folderPrefix begins the names of the folders that engines use in the folder of results.
const folderPrefix = ".slurm-"

// allocationNote is the content of the note file. Joined is the job whose steps the next run must end, if tfexp ran in
// an allocation.
type allocationNote struct {
	Allocations []string `json:"allocations,omitempty"`
	Joined      string   `json:"joined,omitempty"`
}

// session is the Slurm engine during a run.
type session struct {
	run   engine.Run
	forks forker

	mu    sync.Mutex // guards the fields below
	pools map[string]*nodePool
	noted allocationNote
}

// openSession starts a session. It cancels the allocations that a killed run has left behind, and returns messages
// about them.
func openSession(run engine.Run) (engine.Session, []string, error) {
	s := &session{run: run, pools: map[string]*nodePool{}}
	left, _ := filepath.Glob(filepath.Join(run.Dir, folderPrefix+"*")) // the pattern is valid
	for _, dir := range left {
		if err := folder.RemoveAll(dir); err != nil {
			return nil, nil, fmt.Errorf("clean up after an earlier run: %w", err)
		}
	}
	raw, err := engine.ReadNote(filepath.Split(s.noteFile()))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil, nil
	}
	var old allocationNote
	if err == nil {
		err = json.Unmarshal(raw, &old)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", noteFile, err)
	}
	removed, err := cancelLeftovers(old)
	if err != nil {
		return nil, removed, WithHint(fmt.Errorf("clean up after an earlier run: %w", err))
	}
	return s, removed, folder.Remove(s.noteFile())
}

// cancelLeftovers cancels the allocations and steps of a killed run that its note lists.
func cancelLeftovers(old allocationNote) (removed []string, err error) {
	ctx := context.Background()
	if len(old.Allocations) > 0 {
		out, err := CallWithRetries(ctx, DefaultPatience, "squeue", "-h", "-o", "%A", "--me")
		if err != nil {
			return nil, err
		}
		for job := range strings.FieldsSeq(out) {
			if !slices.Contains(old.Allocations, job) || slices.Contains(removed, "allocation "+job) {
				continue
			}
			if _, err := CallWithRetries(ctx, DefaultPatience, "scancel", job); err != nil {
				return removed, err
			}
			removed = append(removed, "allocation "+job)
		}
	}
	if old.Joined == "" || old.Joined != currentAllocation().job {
		return removed, nil
	}
	out, err := CallWithRetries(ctx, DefaultPatience, "squeue", "-h", "-s", "-j", old.Joined, "-o", "%i %j")
	if err != nil {
		return removed, err
	}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], stepPrefix) {
			if _, err := CallWithRetries(ctx, DefaultPatience, "scancel", f[0]); err != nil {
				return removed, err
			}
			removed = append(removed, "step "+f[0])
		}
	}
	return removed, nil
}

func (s *session) noteFile() string { return filepath.Join(s.run.Dir, noteFile) }

// noteAllocation records in the note that an allocation was submitted (there is true) or has ended.
func (s *session) noteAllocation(job string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.noted.Allocations, job)
	switch {
	case there && at < 0:
		s.noted.Allocations = append(s.noted.Allocations, job)
	case !there && at >= 0:
		s.noted.Allocations = slices.Delete(s.noted.Allocations, at, at+1)
	default:
		return
	}
	s.writeNote()
}

// writeNote writes the note. Errors are ignored: the note is needed only if tfexp is killed. mu must be held.
func (s *session) writeNote() {
	if len(s.noted.Allocations) == 0 && s.noted.Joined == "" {
		folder.Remove(s.noteFile())
		return
	}
	if raw, err := json.Marshal(s.noted); err == nil {
		_ = folder.Write(s.noteFile(), append(raw, '\n'), 0o644)
	}
}

// Engine creates an engine for a hardware. The first call submits the allocation and waits for it.
func (s *session) Engine(ctx context.Context, task engine.Task) (engine.Engine, error) {
	s.mu.Lock()
	p := s.pools[task.Hardware.Name]
	if p == nil {
		p = newNodePool(s, task.Hardware)
		s.pools[task.Hardware.Name] = p
		if p.set.Joined != "" {
			s.noted.Joined = p.set.Joined
			s.writeNote()
		}
	}
	s.mu.Unlock()
	if err := p.awaitNodes(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, WithHint(err)
	}
	return newEngine(p, task)
}

// Local returns false: the engine uses no GPU of this machine.
func (s *session) Local(*engine.Hardware) bool { return false }

// Close gives back all allocations.
func (s *session) Close() error {
	var errs []error
	for _, p := range s.pools {
		errs = append(errs, p.close())
	}
	s.forks.close()
	s.mu.Lock()
	s.noted = allocationNote{}
	s.writeNote()
	s.mu.Unlock()
	return errors.Join(errs...)
}

// interrupt is a signal that ends srun together with the processes that it has started. hangUp ends salloc; a salloc
// with an allocation ignores other signals. If somebody cancels its allocation at the same time, salloc may wait
// endlessly for its program.
const interrupt, hangUp = syscall.SIGTERM, syscall.SIGHUP

// forker starts the commands that must end with tfexp. The kernel signals a command when the thread that started it
// ends. So one thread, which lives until the session ends, starts all commands. It is created by the first call of
// start.
type forker struct {
	begin, end sync.Once
	work       chan func()
}

func (f *forker) run() {
	f.work = make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range f.work {
			do()
		}
		runtime.UnlockOSThread()
	}()
}

// start starts a command that receives a signal when tfexp ends.
func (f *forker) start(cmd *exec.Cmd, signal syscall.Signal) (err error) {
	f.begin.Do(f.run)
	cmd.SysProcAttr = dieWithParent(signal)
	done := make(chan struct{})
	f.work <- func() {
		defer close(done)
		err = cmd.Start()
	}
	<-done
	return err
}

func (f *forker) close() {
	f.end.Do(func() {
		if f.work != nil {
			close(f.work)
		}
	})
}

// stepPrefix begins the names of all steps.
const stepPrefix = "tfexp."

// launchPatience is how long tfexp tries to start a step while the controller does not answer.
var launchPatience = 10 * time.Minute
