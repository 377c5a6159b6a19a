// Package train has the training programs that are part of tfexp, so that an experiment needs no other software:
// softmax, svm, mlp and cnn. They learn to read handwritten digits (package digits), with gonum. They follow the job
// contract (package contract): they use only the threads that they were given, read the control file between two steps,
// report each epoch, and write checkpoints. On SIGTERM they write a checkpoint and stop.
//
// The result of a process that trains alone depends on its settings only. The number of threads, changes of this number
// and interruptions change the duration, but no bit of the result (on machines of one kind).
//
// In a job with roles, several processes train together. Parameter servers hold the weights (server), and workers
// compute gradients (worker). One worker, the chief, reports and writes checkpoints for the job. Workers do not wait
// for each other, so the result depends on their timing.
package train

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/program"
)

// Version is part of the keys of results. It must be raised when a program's results change, or its run times change by
// more than noise; cached results are then not used.
const Version = 1

// Command is the subcommand of tfexp that runs a program.
const Command = "train"

// Exit statuses of Main, besides contract.ExitStopped.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// defaultEpochs is the number of epochs if neither a flag nor the environment sets it.
const defaultEpochs = 10

// options are the flags of a run that are not settings of the program.
type options struct {
	epochs, steps int
	threads       int // 0: the environment and the control file decide
	save          string
}

// Main runs the training program args[0] with the flags that follow, as a separate process would: it reads the
// environment of the job contract, handles SIGTERM, and sets the number of threads of the Go runtime. begin is the time
// at which the process started, from which its budget is counted.
//
// Main returns the exit status: 0 for success, 1 for a failure, 2 for wrong arguments or environment,
// contract.ExitStopped after a SIGTERM.
func Main(begin time.Time, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))

	cfg, opts, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var env program.Env
	if err == nil {
		env, err = program.FromEnv(os.Getenv)
	}
	if err != nil {
		fmt.Fprintf(stderr, "tfexp train: %v\n", err)
		return exitUsage
	}
	r := newRun(cfg, opts, env, begin, stdout, stderr)
	switch err := r.train(ctx); {
	case errors.Is(err, errStopped):
		return contract.ExitStopped
	case err != nil:
		fmt.Fprintf(stderr, "tfexp train: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// parse reads the command line. If help is requested, it prints it to stdout and returns flag.ErrHelp.
func parse(args []string, stdout io.Writer) (config, options, error) {
	var opts options
	if len(args) == 0 {
		return config{}, opts, fmt.Errorf("name the program to train: %s", strings.Join(Names(), ", "))
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		usage(stdout)
		return config{}, opts, flag.ErrHelp
	}
	program, err := find(args[0])
	if err != nil {
		return config{}, opts, err
	}
	cfg := defaults(program)
	flags := flag.NewFlagSet(program.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, p := range program.Params {
		flags.Func(strings.ReplaceAll(p.Name, "_", "-"), p.Doc, func(s string) error { return cfg.set(p.Name, s) })
	}
	for _, f := range runFlags(&opts) {
		flags.Func(f.Name, f.Doc, f.set)
	}
	err = flags.Parse(args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		programUsage(stdout, program)
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && opts.epochs > 0 && opts.steps > 0:
		err = errors.New("both --epochs and --steps are given: remove one of them")
	case err == nil:
		err = cfg.complete()
	}
	return cfg, opts, err
}
