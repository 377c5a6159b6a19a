// Array runs arrays of tasks on a Slurm cluster, as tfexp run --on slurm does with cells.

package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/results/folder"
)

// BatchSystem is Slurm as the batch system of a cluster. It makes few calls to the controller, because many sites limit
// them.
type BatchSystem struct{}

// requestOf returns the request of each task of an array to the cluster.
func requestOf(a engine.Array) Request {
	more := maps.Clone(a.Args)
	delete(more, "partition")
	return Request{Name: a.Name, Partition: a.Args["partition"], Threads: a.Threads, Whole: a.Whole, More: more}
}

// taskScript is the script that Slurm runs for a task.
func taskScript(a engine.Array) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nexec")
	for _, arg := range a.Command {
		b.WriteString(" " + ShellQuote(arg))
	}
	b.WriteString(` "$SLURM_ARRAY_TASK_ID"` + "\n")
	return b.String()
}

// Check implements engine.Batch. It makes three calls; in one of them a node checks the folder.
func (BatchSystem) Check(ctx context.Context, a engine.Array) (waits string, err error) {
	r := requestOf(a)
	err = CheckRequest(ctx, r)
	if err == nil {
		err = CheckSharedFolder(ctx, r, a.Dir, a.Command[0], SharedFolderPatience)
	}
	if errors.Is(err, ErrBusy) { // a task that does not see the folder will report it
		return err.Error(), nil
	}
	return "", WithHint(err)
}

// Submit implements engine.Batch. It makes one call.
func (BatchSystem) Submit(ctx context.Context, a engine.Array) (string, error) {
	path := filepath.Join(a.Dir, "task.sh")
	if err := folder.WriteFile(path, []byte(taskScript(a)), 0o755); err != nil {
		return "", fmt.Errorf("write the script of an array: %w", err)
	}
	numbers := ranges(a.Tasks)
	if a.AtOnce > 0 {
		numbers += "%" + strconv.Itoa(a.AtOnce)
	}
	args := append([]string{"--parsable", "--array=" + numbers, "--requeue", "--open-mode=append", "--chdir=" + a.Dir,
		"--output=" + filepath.Join(a.Dir, "task-%a.out")}, requestOf(a).Args()...)
	out, err := CallWithRetries(ctx, time.Minute, "sbatch", append(args, path)...)
	if err != nil {
		return "", WithHint(err)
	}
	job, _, _ := strings.Cut(strings.TrimSpace(out), ";") // the name of a cluster can follow the number
	if job, err = jobNumber(job); err != nil {
		return "", fmt.Errorf("sbatch did not print the number of the job that it submitted: %w; "+
			"look for it with squeue --me", err)
	}
	return job, nil
}

// ranges formats ascending numbers as Slurm reads them, such as "0-2,5".
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// UnfinishedTasks implements engine.Batch. It makes one call. A task is identified by its array and its index in the
// array, because its own job number can change.
func (BatchSystem) UnfinishedTasks(ctx context.Context, jobs []string) (map[string][]int, error) {
	if jobs = jobNumbers(jobs); len(jobs) == 0 {
		return map[string][]int{}, nil
	}
	out, err := slurmcmd.Run(ctx, 0, "squeue", "-h", "-r", "-t", "all", "-j", strings.Join(jobs, ","), "-o", "%F|%K|%T")
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "invalid job id") {
		return map[string][]int{}, nil // Slurm has forgotten these jobs, so all have ended
	}
	if err != nil {
		return nil, err
	}
	alive := map[string][]int{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || slices.Contains(overStates, f[2]) {
			continue
		}
		if n, err := strconv.Atoi(f[1]); err == nil {
			alive[f[0]] = append(alive[f[0]], n)
		}
	}
	return alive, nil
}

// overStates are the states of tasks that have ended and that Slurm does not restart.
var overStates = []string{"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
	"DEADLINE",
	"OUT_OF_MEMORY", "REVOKED"}

// Cancel implements engine.Batch.
func (BatchSystem) Cancel(ctx context.Context, jobs []string) error {
	if jobs = jobNumbers(jobs); len(jobs) == 0 {
		return nil
	}
	_, err := CallWithRetries(ctx, DefaultPatience, "scancel", jobs...)
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "invalid job id") {
		return nil
	}
	return err
}

var _ engine.Batch = BatchSystem{}
