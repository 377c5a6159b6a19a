package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// interruptible returns a context that the first Ctrl-C (or SIGTERM, or
// SIGHUP) cancels: the run then stops cleanly. The second one gives the
// terminal back and ends the process at once; running jobs die with it. stop
// must be called when the run is over.
func interruptible(view live.RunProgress) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	// Scripts start background jobs with SIGINT ignored; one that is sent to this
	// process is obeyed all the same.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
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
				os.Exit(ExitInterrupted)
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
