// Client runs the commands of a Slurm cluster (22.05 or later). It makes the requests, parses the answers, and suggests
// remedies for errors.

package slurm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/slurmcmd"
)

// EnvJob is the variable with the number of the Slurm job that a program runs in.
const EnvJob = "SLURM_JOB_ID"

// DefaultPatience is how long tfexp waits for a controller that does not answer.
const DefaultPatience = 5 * time.Minute

// ControllerAway reports whether an error says that the controller does not answer, or cannot answer now.
func ControllerAway(err error) bool {
	var e *slurmcmd.Error
	return errors.As(err, &e) && (TextSaysAway(e.Text) || errors.Is(err, context.DeadlineExceeded))
}

// TextSaysAway reports whether a message of Slurm says that the controller does not answer.
func TextSaysAway(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"unable to contact slurm controller", "socket timed out", "connection refused",
		"zero bytes were transmitted", "unable to establish controller machine", "socket connection error",
		"communication connection failure", "unable to establish control machine", "resource temporarily unavailable",
	}, func(s string) bool { return strings.Contains(text, s) })
}

// jobNumber reads the number of a job from Slurm's output or from a note. Any other text is an error, because the
// result becomes an argument of a command.
func jobNumber(text string) (string, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseUint(text, 10, 32); err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return "", fmt.Errorf("%.40q is not a job number: it must be a whole number from 1", text)
	}
	return text, nil
}

// jobNumbers returns the elements of jobs that are job numbers.
func jobNumbers(jobs []string) []string {
	return slices.DeleteFunc(slices.Clone(jobs), func(job string) bool { _, err := jobNumber(job); return err != nil })
}

// CallWithRetries runs a command as RunCommand does. While the controller does not answer, it repeats the command after
// growing random pauses, until patience is over.
func CallWithRetries(ctx context.Context, patience time.Duration, command string, args ...string) (string, error) {
	began := time.Now()
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 15*time.Second) {
		out, err := slurmcmd.Run(ctx, 0, command, args...)
		if err == nil || !ControllerAway(err) || ctx.Err() != nil || time.Since(began) > patience {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(RandomizeDuration(pause)):
		}
	}
}

// RandomizeDuration returns a random duration near d. Processes that wait for the same event then do not all call the
// controller at once.
func RandomizeDuration(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// StepMayRetry reports whether the messages of a failed srun say that it may succeed later: the controller does not
// answer, or it has restarted and has not yet heard from its nodes.
func StepMayRetry(text string) bool {
	text = strings.ToLower(text)
	return TextSaysAway(text) || slices.ContainsFunc([]string{"memory required by task is not available", "nodes are busy",
		"unable to create step for job", "required node not available",
	}, func(s string) bool { return strings.Contains(text, s) }) && !slices.ContainsFunc([]string{"invalid job id",
		"expired", "already completing", "access/permission"}, func(s string) bool { return strings.Contains(text, s) })
}

// ShellQuote quotes a word for the shell.
func ShellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// EngineName is the name of the engine in experiments, and of the batch system in --on.
const EngineName = "slurm"
