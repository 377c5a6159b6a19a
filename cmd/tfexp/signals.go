package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tfexp/tfexp/cmd/tfexp/progress"
)

// interruptible returns a context that the first Ctrl-C (or SIGTERM, or
// SIGHUP) cancels: the run then stops cleanly. The second one gives the
// terminal back and ends the process at once; running jobs die with it. stop
// must be called when the run is over.
func interruptible(view progress.View) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup, or in the background of a script
			signal.Notify(signals, s)
		}
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
				os.Exit(exitInterrupted)
			}
			cancel()
			view.Say("stopping jobs… (again to kill at once)")
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}
