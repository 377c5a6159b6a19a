// Package slurmcmd runs the commands of Slurm, for the engine and for forecasts of a queue.
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

// Commands are the Slurm commands that tfexp calls.
var Commands = []string{"sbatch", "salloc", "srun", "scancel", "squeue", "sinfo", "scontrol"}

// Error is the failure of a command.
type Error struct {
	// Command is the name of the command, Text its message in one line, and Code its exit status; -1 if it has none.
	Command, Text string
	Code          int
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: exit status %d", e.Command, e.Code)
	}
	return e.Command + ": " + e.Text
}

// Environ returns the environment for Slurm's commands. It removes the settings of a Slurm job in which tfexp itself
// may run, because the commands would use them. It also removes values of experiment variables, because jobs would
// inherit them.
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

// Missing returns an error that names the commands which are not on the PATH; nil if all are.
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

// Run runs a command and returns its output. It ends the command after limit; 0 means a minute.
func Run(ctx context.Context, limit time.Duration, command string, args ...string) (string, error) {
	if limit <= 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env = Environ()
	if command == "squeue" { // print instants as seconds since 1970
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

// JoinErrorLines joins the error messages of a command to one line. It removes the names of commands, and repeated
// messages.
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
