// Tfexp runs declarative experiments on machine-learning training jobs and
// the policies that schedule them, for real or in simulation.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/hardware/process"
	_ "github.com/tfexp/tfexp/stages/all"
)

func main() {
	// The process engine runs this same program as the guardian of its jobs.
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// Main runs the command line args (without the program's name) and returns
// the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	a := newApp(stdout, stderr)
	return a.Exit(a.execute(args))
}

// interruptible returns a context that the first Ctrl-C, SIGTERM or SIGHUP cancels; the run then stops cleanly. A
// second signal restores the terminal and ends the process at once, which also kills running jobs. Call stop after the
// run.
func interruptible(view live.RunProgress) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	// Shells start background jobs of scripts with SIGINT ignored. A SIGINT sent to this process must still stop the
	// run.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores SIGHUP: keep it ignored
		signal.Notify(signals, syscall.SIGHUP)
	}
	over := make(chan struct{})
	go func() {
		for again := false; ; again = true {
			select {
			case <-over:
				return
			case <-signals:
			}
			if again {
				view.Close()
				os.Exit(command.ExitInterrupted)
			}
			cancel()
			view.Say("stopping jobs… (press Ctrl-C again to kill them at once)")
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}
