package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/execute"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

const noRaceSleep = "atexit_sleep_ms=0"

// withPNG is an environment variable that makes tests draw pictures in all usual formats.
const withPNG = "TFEXP_TEST_PNG"

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	installFault()
	// A program with the race detector sleeps for a second at its end. This would lengthen jobs that run this program.
	os.Setenv("GORACE", noRaceSleep)
	// Tests run in parallel and disturb each other.
	os.Setenv(execute.KeepDisturbed, "1")
	if os.Getenv(withPNG) == "" { // PNG pictures take most of the time of small experiments
		plot.Usual = []string{canvas.SVG}
	}
	// In scripts, the command tfexp is a copy of this program. It is the whole command, and also works as a training
	// program.
	testscript.Main(m, map[string]func(){"tfexp": main, "eventwriter": eventwriter})
}

// The scripts under testdata/script are the specification of the command, one
// file for each subcommand or exit status.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("TERM", "xterm")
			env.Setenv("NO_COLOR", "")
			env.Setenv("GORACE", noRaceSleep)
			env.Setenv(execute.KeepDisturbed, "1")
			return nil
		},
		// A machine with a driver has real GPUs, which a script cannot hide.
		Condition: func(cond string) (bool, error) {
			if cond != "nvidia" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := hardware.GPUs()
			return !errors.Is(err, gpu.ErrNoDriver), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    runWithStatus,
			"predicted": wellPredicted,
			"words":     fewWords,
		},
	})
}

// runWithStatus implements "status CODE PROGRAM ARGS...": the program must end with this exit status.
func runWithStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE PROGRAM ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		code = exit.ProcessState.String()
		code = code[len("exit status "):]
	}
	if code != args[0] {
		ts.Fatalf("exit status %s, want %s", code, args[0])
	}
}

// fewWords implements "words FILE MOST": a report must show at most MOST words before the reader opens anything.
func fewWords(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: words FILE MOST")
	}
	most, err := strconv.Atoi(args[1])
	ts.Check(err)
	words := resultstest.ShownWords(ts.ReadFile(args[0]))
	ts.Logf("%d words are shown", words)
	if words > most || words < 50 {
		ts.Fatalf("%s shows %d words, want at most %d", args[0], words, most)
	}
}

// wellPredicted implements "predicted DIR FACTOR": the time of each cell must be within a factor of its prediction.
func wellPredicted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: predicted DIR FACTOR")
	}
	factor, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	e, err := record.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(e.Cells) == 0 {
		ts.Fatalf("no cell is complete")
	}
	for _, c := range e.Cells {
		if took := measure.Makespan.Of(&c.Metrics); !(c.PredictedSeconds > took/factor && c.PredictedSeconds < took*factor) {
			ts.Fatalf("%s took %g s, and was predicted to take %g s", c.Cell, took, c.PredictedSeconds)
		}
	}
}
