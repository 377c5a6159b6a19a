// Client runs the commands of a Slurm cluster (22.05 or later): what it asks, how it understands the answers,
// and what to do about those that are errors.

package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Commands are those that tfexp runs.
var Commands = []string{"sbatch", "salloc", "srun", "scancel", "squeue", "sinfo", "scontrol"}

// EnvJob is the variable by which Slurm tells a program in which job it runs.
const EnvJob = "SLURM_JOB_ID"

// DefaultPatience is how long a controller that does not answer is waited for.
const DefaultPatience = 5 * time.Minute

// Error is a command that failed.
type CommandError struct {
	// Command is its name; Text what it said, in a line; Code its exit status, -1 where it has none.
	Command, Text string
	Code          int
}

func (e *CommandError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: exit status %d", e.Command, e.Code)
	}
	return e.Command + ": " + e.Text
}

// Away reports whether an error says that the controller does not answer, or not now.
func Away(err error) bool {
	var e *CommandError
	return errors.As(err, &e) && (AwayText(e.Text) || errors.Is(err, context.DeadlineExceeded))
}

// AwayText reports whether a text of Slurm's says that.
func AwayText(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"unable to contact slurm controller", "socket timed out", "connection refused",
		"zero bytes were transmitted", "unable to establish controller machine", "socket connection error",
		"communication connection failure", "unable to establish control machine", "resource temporarily unavailable",
	}, func(s string) bool { return strings.Contains(text, s) })
}

// Environ is the environment of Slurm's commands: without the settings of the job that tfexp itself may run in, which
// they would take for their own.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "SLURM_CONF" || name == "SLURM_CONF_SERVER" || name == "SLURM_JWT":
			return false
		}
		for _, prefix := range []string{"SLURM_", "SLURMD_", "SRUN_", "SALLOC_", "SBATCH_", "PMI_", "PMIX_"} {
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

// MissingHint says what to do about commands that are missing.
const MissingHint = "start tfexp where you submit jobs to Slurm, such as a login node of the cluster, or load its " +
	"module; hardware/slurm/cluster.sh starts a small cluster on this machine"

// Run runs a command once and returns what it printed. Nothing waits longer than limit; 0 stands for a minute.
func RunCommand(ctx context.Context, limit time.Duration, command string, args ...string) (string, error) {
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
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	e := &CommandError{Command: command, Text: QuotedLine(errs.String()), Code: -1}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.Code = exit.ExitCode()
	} else if e.Text == "" {
		e.Text = err.Error()
	}
	if ctx.Err() != nil && e.Text == "" {
		e.Text = "it did not answer within " + limit.String()
		return out.String(), errors.Join(e, ctx.Err())
	}
	return out.String(), e
}

// Call runs a command as Run does, and again while the controller does not answer, with growing pauses of a random
// length, for as long as patience says.
func Call(ctx context.Context, patience time.Duration, command string, args ...string) (string, error) {
	began := time.Now()
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 15*time.Second) {
		out, err := RunCommand(ctx, 0, command, args...)
		if err == nil || !Away(err) || ctx.Err() != nil || time.Since(began) > patience {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(Jitter(pause)):
		}
	}
}

// Jitter returns a duration at random around d, so that many that wait do not all come at once.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// Line puts what a command said about an error into one line: its messages without the names of the commands, once.
func QuotedLine(text string) string {
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

// advice says what can be done about messages of Slurm's.
var advice = []struct{ part, hint string }{
	{"partition name", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"invalid partition", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"default partition", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"submit limit",
		`wait until some of your jobs have ended ("squeue --me"), or let more cells share a task with --batch`},
	{"accounting/qos policy",
		`wait until some of your jobs have ended ("squeue --me"), or let more cells share a task with --batch`},
	{"account",
		`"sacctmgr show associations user=$USER" lists your accounts; name one with account = "…" or --sbatch account=…`},
	{"qos specification", `"sacctmgr show qos" lists what there is; set qos = "…" or --sbatch qos=…`},
	{"feature specification", `"sinfo -o %f" lists the features of nodes; change constraint`},
	{"generic resource", `"sinfo -o %G" lists the generic resources of nodes; change gres or gpus`},
	{"node configuration", `ask for fewer nodes or cores ("sinfo -o '%P %D %c %m %G'" lists what the partitions have)`},
	{"node count", `ask for fewer nodes ("sinfo -o '%P %D'" lists how many the partitions have)`},
	{"more processors", `ask for fewer threads ("sinfo -o '%P %c'" lists the cores of nodes)`},
	{"time limit", `ask for less time ("sinfo -o '%P %l'" lists the limits of the partitions)`},
	{"temporarily unavailable",
		`the queue of the cluster is full ("scontrol show config" has MaxJobCount): try again later, or let ` +
			`more cells share a task with --batch`},
	{"unable to accept job",
		`the queue of the cluster is full: try again later, or let more cells share a task with --batch`},
	{"job array specification", `let more cells share a task with --batch`},
	{"unable to contact", "see whether the controller runs (\"scontrol ping\"), or ask the administrator of the cluster"},
	{"configuration source", "set SLURM_CONF to the cluster's slurm.conf, or start tfexp on a machine of the cluster"},
	{"clustername needs", "set SLURM_CONF to the cluster's slurm.conf"},
	{"s_p_parse_file", "set SLURM_CONF to the cluster's slurm.conf"},
	{"did not answer", "see whether the controller runs (\"scontrol ping\"), or ask the administrator of the cluster"},
}

// Hint says what can be done about an error; a general word where nothing better is known.
func Hint(err error) string {
	text := strings.ToLower(err.Error())
	for _, a := range advice {
		if strings.Contains(text, a.part) {
			return a.hint
		}
	}
	return `"tfexp doctor" looks at the cluster`
}

// AgainText reports whether an error of srun's says that a step may be started later: the controller is away, or does
// not know of its nodes yet because it was started anew.
func AgainText(text string) bool {
	text = strings.ToLower(text)
	return AwayText(text) || slices.ContainsFunc([]string{"memory required by task is not available", "nodes are busy",
		"unable to create step for job", "required node not available",
	}, func(s string) bool { return strings.Contains(text, s) }) && !slices.ContainsFunc([]string{"invalid job id",
		"expired", "already completing", "access/permission"}, func(s string) bool { return strings.Contains(text, s) })
}

// Quote writes a word for the shell.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
