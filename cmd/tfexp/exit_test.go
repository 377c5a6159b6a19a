package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		hint string
	}{
		{nil, exitOK, ""},
		{errors.New("disk full"), exitInternal, ""},
		{fmt.Errorf("run: %w", pipeline.ErrInterrupted), exitInterrupted, ""},
		{fmt.Errorf("run: %w", &store.InUseError{Dir: "d", Holder: "process 1"}), exitInUse,
			"wait until that run has ended, or choose another folder with --out"},
		{fmt.Errorf("run: %w", &engine.Unavailable{Engine: "process", Err: errors.New("no"), Hint: "do this"}),
			exitUnavailable, "do this"},
		{fmt.Errorf("run: %w", &exitError{code: exitCellsFailed, err: errors.New("2 cells failed"), hint: "look"}),
			exitCellsFailed, "look"},
		{silently(exitInvalid), exitInvalid, ""},
		{silently(exitOK), exitOK, ""},
	} {
		code, hint := verdict(c.err)
		if code != c.code || hint != c.hint {
			t.Errorf("verdict(%v) = %d, %q, want %d, %q", c.err, code, hint, c.code, c.hint)
		}
	}
}

func TestExitSaysItOnce(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{usagef("did you mean x?", "unknown y"), "Error: unknown y\n  did you mean x?\n"},
		{errors.New("plain"), "Error: plain\n"},
		{silently(exitInvalid), ""},
		{nil, ""},
	} {
		var stdout, stderr bytes.Buffer
		newApp(&stdout, &stderr).exit(c.err)
		if stderr.String() != c.want || stdout.Len() > 0 {
			t.Errorf("exit(%v) said %q on stderr, %q on stdout", c.err, &stderr, &stdout)
		}
	}
}
