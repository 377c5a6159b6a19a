// Package builtin is the training programs that are part of tfexp, so that an
// experiment needs nothing installed: softmax, svm, mlp and cnn learn to read
// handwritten digits (package digits), on gonum. They keep the job contract
// (package contract): they use the threads that they were given and no more,
// follow a changed allotment between two steps, report each epoch, and stop
// with a checkpoint on SIGTERM.
//
// What a training computes hangs on its settings alone. The number of threads,
// changes of it on the way and interruptions change how long it takes and not
// one bit of the result (on one kind of machine).
package builtin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Version changes whenever a program's results or run times change by more
// than noise: cached results of the version before are then not reused.
const Version = 1

// The exit statuses of Main, beside contract.ExitStopped.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// defaultEpochs is the length when neither flags nor environment set it.
const defaultEpochs = 10

// options are the arguments of a run beside its configuration.
type options struct {
	epochs, steps int
	threads       int // 0: as the environment and the control file say
	save          string
}

// Main runs the training program args[0] with the flags that follow, as a
// process of its own would: it reads the environment of the job contract,
// handles SIGTERM and sets the number of threads of the Go runtime. It returns
// the exit status: 0, 1 for a failure, 2 for wrong arguments or environment,
// contract.ExitStopped after a SIGTERM.
func Main(args []string, stdout, stderr io.Writer) int {
	begin := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))

	cfg, opts, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var env contract.Env
	if err == nil {
		env, err = contract.FromEnv(os.Getenv)
	}
	if err != nil {
		fmt.Fprintf(stderr, "tfexp train: %v\n", err)
		return exitUsage
	}
	r := run{config: cfg, options: opts, env: env, begin: begin, stdout: stdout, stderr: stderr}
	switch err := r.train(ctx); {
	case errors.Is(err, context.Canceled):
		return contract.ExitStopped
	case err != nil:
		fmt.Fprintf(stderr, "tfexp train: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// parse reads the command line. It prints the help that is asked for to
// stdout, and returns flag.ErrHelp.
func parse(args []string, stdout io.Writer) (config, options, error) {
	var opts options
	if len(args) == 0 {
		return config{}, opts, fmt.Errorf("want the name of a program: %s", strings.Join(Names(), ", "))
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
		err = errors.New("both --epochs and --steps are given, want one of them")
	case err == nil:
		err = cfg.complete()
	}
	return cfg, opts, err
}

// run is one run of a program.
type run struct {
	config
	options
	env            contract.Env
	begin          time.Time
	stdout, stderr io.Writer

	team    team
	control *contract.Control // nil: the threads stay as they are
	warned  bool              // of a control file that cannot be read
	epochs  []float64         // seconds of each epoch of this run
}

// train runs the program to its end, or until ctx is done: the error is then
// context.Canceled, with a checkpoint left where there is a place for it.
func (r *run) train(ctx context.Context) error {
	r.threadsAtStart()
	defer r.team.close()
	tr := newTrainer(r.config, &r.team)
	path := ""
	if r.env.CheckpointDir != "" {
		path = filepath.Join(r.env.CheckpointDir, checkpointFile)
		r.resume(tr, path)
	}
	total := r.length(tr.stepsPerEpoch())
	startup := time.Since(r.begin)

	mark := time.Now()
	for tr.state.Steps < total {
		if ctx.Err() != nil {
			tr.state.Elapsed += time.Since(mark)
			return r.stop(tr, path)
		}
		r.follow()
		tr.step()
		if last := tr.state.Steps == total; last || tr.state.Steps%tr.stepsPerEpoch() == 0 {
			accuracy := tr.accuracy()
			now := time.Now()
			tr.state.Elapsed += now.Sub(mark)
			mark = now
			if err := r.report(tr, accuracy); err != nil {
				return err
			}
		}
	}

	mark = time.Now()
	if r.save != "" {
		if err := writeCheckpoint(r.save, r.config, tr.state); err != nil {
			return fmt.Errorf("save the model: %w", err)
		}
	}
	if path != "" {
		if err := removeCheckpoint(path); err != nil {
			return err
		}
	}
	return contract.WriteTimes(r.stdout, startup.Seconds(), r.epochs, time.Since(mark).Seconds())
}

// length is the total number of steps: flags come before the environment.
func (r *run) length(stepsPerEpoch int) int {
	switch {
	case r.steps > 0:
		return r.steps
	case r.options.epochs > 0:
		return r.options.epochs * stepsPerEpoch
	case r.env.Steps > 0:
		return r.env.Steps
	case r.env.Epochs > 0:
		return r.env.Epochs * stepsPerEpoch
	}
	return defaultEpochs * stepsPerEpoch
}

// threadsAtStart sets the team to what the flag, or else the control file, or
// else the environment says. The images of a batch are shared out within one
// operation, so the threads are those of the intra-op pool.
func (r *run) threadsAtStart() {
	if r.threads > 0 {
		r.team.resize(r.threads)
		return
	}
	r.team.resize(r.env.Threads.Intra)
	if r.env.ControlPath != "" {
		r.control = contract.NewControl(r.env.ControlPath)
		r.follow()
	}
}

// follow looks for a changed allotment. It is called between two steps.
func (r *run) follow() {
	if r.control == nil {
		return
	}
	a, changed, err := r.control.Read()
	switch {
	case err != nil && !r.warned:
		fmt.Fprintf(r.stderr, "tfexp train: warning: %v; going on with %d threads\n", err, r.team.threads)
		r.warned = true
	case changed:
		r.team.resize(a.Intra)
	}
}

// resume goes on from the checkpoint at path, if there is one that fits.
func (r *run) resume(tr *trainer, path string) {
	s, err := readCheckpoint(path, r.config, len(tr.state.Weights))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		fmt.Fprintf(r.stderr, "tfexp train: warning: %v; starting from the beginning\n", err)
	default:
		tr.restore(s)
		fmt.Fprintf(r.stderr, "tfexp train: going on from the checkpoint after step %d\n", s.Steps)
	}
}

// stop leaves a checkpoint, if there is a place for it.
func (r *run) stop(tr *trainer, path string) error {
	if path == "" {
		fmt.Fprintf(r.stderr, "tfexp train: stopped after step %d, without a checkpoint: %s is not set\n", tr.state.Steps, contract.EnvCheckpointDir)
		return context.Canceled
	}
	if err := writeCheckpoint(path, r.config, tr.state); err != nil {
		return err
	}
	fmt.Fprintf(r.stderr, "tfexp train: stopped after step %d, with a checkpoint\n", tr.state.Steps)
	return context.Canceled
}

// report prints the epoch that has just ended and begins the next. What is
// left over at the end of a run by steps has no epoch number.
func (r *run) report(tr *trainer, accuracy float64) error {
	s := &tr.state
	loss, seconds := s.Loss/float64(s.Images), s.Elapsed.Seconds()
	p := contract.Progress{Step: s.Steps, Loss: &loss, Accuracy: &accuracy, Seconds: &seconds, Threads: r.team.threads}
	if s.Steps%tr.stepsPerEpoch() == 0 {
		p.Epoch = s.Steps / tr.stepsPerEpoch()
	}
	r.epochs = append(r.epochs, seconds)
	s.Loss, s.Images, s.Elapsed = 0, 0, 0
	return contract.WriteProgress(r.stdout, p)
}
