// Package slurmcmd runs the commands of Slurm, for the engine and for forecasts of a cluster's queue.
package slurmcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/results/folder"
)

// Commands are the Slurm commands that tfexp runs.
var Commands = []string{"sbatch", "salloc", "srun", "scancel", "squeue", "sinfo", "scontrol"}

// Error is a command that failed.
type Error struct {
	// Command is its name, Text its message in one line, and Code its exit status, -1 if it has none.
	Command, Text string
	Code          int
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: exit status %d", e.Command, e.Code)
	}
	return e.Command + ": " + e.Text
}

// Environ is the environment of Slurm's commands. It lacks the settings of the job that tfexp itself may run in, which
// the commands would use, and the values of variables of experiments, which jobs would inherit.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "SLURM_CONF" || name == "SLURM_CONF_SERVER" || name == "SLURM_JWT":
			return false
		}
		for _, prefix := range []string{
			secret.Environment, "SLURM_", "SLURMD_", "SRUN_", "SALLOC_", "SBATCH_", "PMI_", "PMIX_",
		} {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	})
}

// Missing returns an error that names the commands which are not on the PATH; nil when all are.
func Missing() error {
	var missing []string
	for _, c := range Commands {
		if _, err := exec.LookPath(c); err != nil {
			missing = append(missing, c)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("no %s on the PATH", strings.Join(missing, ", no "))
}

// MissingHint is the remedy for missing commands.
const MissingHint = "start tfexp where you submit jobs to Slurm, such as a login node of the cluster, or load its " +
	"module; hardware/slurm/cluster.sh starts a small cluster on this machine"

// Run runs a command once and returns its output. It waits no longer than limit; 0 means a minute.
func Run(ctx context.Context, limit time.Duration, command string, args ...string) (string, error) {
	if limit <= 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env = Environ()
	if command == "squeue" { // it prints instants as seconds since 1970
		cmd.Env = append(cmd.Env, "SLURM_TIME_FORMAT=%s")
	}
	cmd.WaitDelay = time.Second
	out, errs, err := folder.Output(cmd)
	if err == nil {
		return string(out), nil
	}
	e := &Error{Command: command, Text: JoinErrorLines(string(errs)), Code: -1}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.Code = exit.ExitCode()
	} else if e.Text == "" {
		e.Text = err.Error()
	}
	if ctx.Err() != nil && e.Text == "" {
		e.Text = "it did not answer within " + limit.String()
		return string(out), errors.Join(e, ctx.Err())
	}
	return string(out), e
}

// JoinErrorLines puts a command's error messages into one line: without the names of the commands, each message once.
func JoinErrorLines(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"error: ", "fatal: "} {
			for _, c := range append([]string{"slurm_load_jobs", "slurm_load_partitions", "slurm_load_node"}, Commands...) {
				line = strings.TrimPrefix(line, c+": ")
			}
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}
