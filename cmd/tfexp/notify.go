package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

const (
	// longRun is how long a run takes at least for its end to ring the bell of the terminal.
	longRun = time.Minute
	// notifying bounds the time of the command that a run notifies by.
	notifying = time.Minute
)

// ended announces the end of a run in a folder: by the command of --notify, and after a long run by the bell.
func (a *app) ended(notify, dir string, took time.Duration, failure error) {
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
		if h, err := analysis.Headline(e); err == nil {
			answer = h.Sentence
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), notifying)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", notify)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/C", notify)
	}
	cmd.Env = append(os.Environ(), "TFEXP_STATE="+state, "TFEXP_DIR="+dir, "TFEXP_ANSWER="+answer)
	cmd.Stdout, cmd.Stderr = a.Err, a.Err
	if err := errors.Join(cmd.Run(), ctx.Err()); err != nil {
		fmt.Fprintf(a.Err, "the command of --notify: %v\n", err)
	}
}
