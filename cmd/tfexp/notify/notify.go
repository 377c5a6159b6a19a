// Package notify announces the end of a run: by the command of the flag --notify, and by the bell of the terminal.
package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/record"
)

const (
	// longRun is the shortest run whose end rings the bell of the terminal.
	longRun = time.Minute
	// notifying is the time limit for the command of --notify.
	notifying = time.Minute
)

func init() {
	command.RegisterRun(func(a *command.App) command.RunExtension {
		var shell string
		return command.RunExtension{
			Flags: func(fs *pflag.FlagSet) {
				fs.StringVar(&shell, "notify", "", "shell `COMMAND` that is started when the run has ended")
			},
			Ended: func(dir string, took time.Duration, failure error) { ended(a, shell, dir, took, failure) },
		}
	})
}

// ended announces the end of a run with results in dir. It runs the command of --notify and, after a long run, rings
// the bell.
func ended(a *command.App, notify, dir string, took time.Duration, failure error) {
	if f, ok := a.Screen.(*os.File); ok && took >= longRun && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(f, "\a")
	}
	if notify == "" || dir == "" {
		return
	}
	state, answer := "finished", ""
	switch code, _ := command.Verdict(failure); code {
	case command.ExitOK, command.ExitMissed:
	case command.ExitInterrupted:
		state = "interrupted"
	default:
		state = "failed"
	}
	if e, err := record.Open(dir); err == nil {
		if h, err := states.Headline(e); err == nil {
			answer = h.Sentence
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), notifying)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", notify)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/C", notify)
	}
	cmd.Env = append(launch.Inherited(os.Environ()), "TFEXP_STATE="+state, "TFEXP_DIR="+dir, "TFEXP_ANSWER="+answer)
	cmd.Stdout, cmd.Stderr = a.Err, a.Err
	if err := errors.Join(cmd.Run(), ctx.Err()); err != nil {
		fmt.Fprintf(a.Err, "the command of --notify: %v\n", err)
	}
}
