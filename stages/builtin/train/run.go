package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/digits"
	"github.com/tfexp/tfexp/jobs/program"
)

// errStopped is returned by a training that ended because the process received SIGTERM.
var errStopped = errors.New("stopped")

// run is one run of a program: one attempt of its job.
type run struct {
	config
	options
	env            program.Env
	begin          time.Time
	stdout, stderr io.Writer

	team    team
	clock   *clock
	budget  budget
	control *program.Control  // nil: the number of threads does not change
	warned  bool              // a warning that the control file cannot be read was printed
	request program.MessageID // last request that was carried out
	present *config           // the present settings, if they have changed; nil: config
	saves   saves
	// finished is the state after the last whole epoch (see keep).
	finished state
	epochs   []float64 // seconds of each epoch of this run
	epoch    int       // last epoch that was reported
	reached  bool      // the loss of the last epoch has reached the target
	mark     time.Time // time at which the present epoch began; see contract.Elapsed
}

func newRun(c config, o options, env program.Env, begin time.Time, stdout, stderr io.Writer) *run {
	r := &run{config: c, options: o, env: env, begin: begin, stdout: stdout, stderr: stderr}
	r.clock = newClock(begin)
	if env.CheckpointEvery.Time > 0 {
		r.clock.watchStops()
	}
	r.budget.clock = r.clock
	r.saves = saves{every: env.CheckpointEvery, clock: r.clock}
	if env.CheckpointDir != "" {
		r.saves.path = filepath.Join(env.CheckpointDir, checkpointFile)
	}
	return r
}

// training carries out requests: in this process alone, or in a cluster with this process as its chief.
type training interface {
	// snapshot returns the present state.
	snapshot() (state, error)
	// change sets one setting to its value in c, which is valid.
	change(name string, c config) error
	// deepen adds a layer to a block. If the error is a refusal, nothing has changed.
	deepen(block int) (contract.Deepened, error)
}

// train runs the program to its end, or until ctx is done. In this case it writes a checkpoint, if a folder for it is
// set, and returns errStopped.
func (r *run) train(ctx context.Context) error {
	defer r.clock.close()
	r.threadsAtStart()
	defer r.team.close()
	defer r.saves.close()
	if r.env.CheckpointEvery != (program.Interval{}) && r.saves.path == "" {
		r.warn("no checkpoints are written: %s is not set", contract.EnvCheckpointDir)
	}
	switch part := r.env.Part; {
	case part.Role == contract.RoleServer:
		return r.serve(ctx)
	case part.Role == "" || program.IsChief(part) && len(part.Cluster[contract.RoleServer]) == 0 && parts(part.Cluster) == 1:
		return r.alone(ctx)
	case part.Role != contract.RoleWorker && part.Role != contract.RoleChief:
		return fmt.Errorf("the role %q is unknown: a part of a training is ps, worker or chief", part.Role)
	case len(part.Cluster[contract.RoleServer]) == 0:
		return fmt.Errorf("a job of %d workers needs a parameter server: add a part with the role "+
			"ps", parts(part.Cluster))
	default:
		return r.work(ctx)
	}
}

func parts(c contract.Cluster) int {
	n := 0
	for _, addresses := range c {
		n += len(addresses)
	}
	return n
}

// local is a training in this process alone.
type local struct {
	*trainer
}

func (l local) snapshot() (state, error) { return l.state, nil }

func (l local) change(name string, c config) error {
	switch name {
	case "batch":
		l.resize(c.batch)
	case "learning_rate":
		l.restartRate(c.learningRate, l.state.epochs(c.passes))
	}
	return nil
}

// alone trains in this process.
func (r *run) alone(ctx context.Context) error {
	tr := newTrainer(r.config, &r.team)
	t := local{tr}
	r.resume(tr)
	goal := r.goal()
	startup := time.Since(r.begin)

	r.keep(&tr.state)
	r.mark = time.Now()
	for !goal.reached(tr.state, r.passes) && !r.reached {
		if ctx.Err() != nil {
			return r.stop(t)
		}
		// The control file is read before the budget is checked, since it may raise the budget.
		if err := r.follow(t); err != nil {
			return err
		}
		if r.budget.spent() {
			break
		}
		tr.step()
		r.saves.reached(tr.state.Steps, r.trained())
		if last := goal.reached(tr.state, r.passes); last || tr.epochEnds() {
			accuracy := tr.accuracy()
			if r.budget.spent() && !last {
				break // the evaluation belongs to the epoch
			}
			if err := r.reportEpoch(&tr.state, tr.epochEnds(), accuracy); err != nil {
				return err
			}
			r.keep(&tr.state)
		}
		if err := r.saveIfDue(t, tr.state.Steps); err != nil {
			return err
		}
	}
	if r.budget.set {
		tr.restore(r.finished)
		if err := r.score(tr); err != nil {
			return err
		}
	}
	return r.end(startup, func() (state, error) { return tr.state, nil })
}

// keep copies the state at the end of an epoch if there may be a budget. If the budget ends within the next epoch, that
// epoch does not count, and the copy is the result.
func (r *run) keep(s *state) {
	if !r.budget.set && r.control == nil {
		return
	}
	w, m, v := r.finished.Weights, r.finished.M, r.finished.V
	r.finished = *s
	r.finished.Weights, r.finished.M = append(w[:0], s.Weights...), append(m[:0], s.M...)
	if s.V != nil {
		r.finished.V = append(v[:0], s.V...)
	}
}

// score reports the accuracy of the model when the budget has ended. The time of this evaluation does not count.
func (r *run) score(tr *trainer) error {
	trained := r.trained().Seconds()
	accuracy := tr.accuracy()
	return program.WriteProgress(r.stdout, contract.Progress{FinalAccuracy: &accuracy, Trained: &trained})
}

// end ends a training that has done its work, reached its target, or used up its budget.
func (r *run) end(startup time.Duration, last func() (state, error)) error {
	mark := time.Now()
	if r.save != "" {
		s, err := last()
		if err == nil {
			// These fields are cleared, so that the file is the same as after a training without interruptions.
			s.Trained, s.Request, s.Tickets = 0, program.MessageID{}, nil
			err = writeCheckpoint(r.save, r.config, s)
		}
		if err != nil {
			return fmt.Errorf("save the model: %w", err)
		}
	}
	if err := r.saves.remove(); err != nil {
		return err
	}
	return program.WriteTimes(r.stdout, startup.Seconds(), r.epochs, time.Since(mark).Seconds())
}

// goal is the total work of a training, in steps or in epochs. The zero value means that it trains until its budget
// ends.
type goal struct {
	steps, epochs int
}

func (g goal) reached(s state, passes int) bool {
	return g.steps > 0 && s.Steps >= g.steps || g.epochs > 0 && s.epochs(passes) >= g.epochs
}

// goal returns the total work: from flags, or else from the environment.
func (r *run) goal() goal {
	switch {
	case r.steps > 0:
		return goal{steps: r.steps}
	case r.options.epochs > 0:
		return goal{epochs: r.options.epochs}
	case r.env.Steps > 0 || r.env.Epochs > 0:
		return goal{steps: r.env.Steps, epochs: r.env.Epochs}
	case r.budget.set:
		return goal{}
	}
	return goal{epochs: defaultEpochs}
}

// resume restores the state of the checkpoint, if one exists and fits the configuration.
func (r *run) resume(tr *trainer) {
	if r.env.Budget != nil {
		r.budget.of(*r.env.Budget)
	}
	if r.saves.path == "" {
		return
	}
	begin := time.Now()
	s, err := readCheckpoint(r.saves.path, r.config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.sayResumed(state{}, 0)
		return
	case err != nil:
		r.warn("%v; starting from the beginning", err)
		return
	}
	tr.restore(s)
	r.epoch = s.epochs(r.passes)
	r.budget.used, r.request = s.Trained, s.Request
	if r.env.Budget != nil {
		r.budget.of(*r.env.Budget)
	}
	fmt.Fprintf(r.stderr, "tfexp train: continuing from the checkpoint after step %d\n", s.Steps)
	r.sayResumed(s, time.Since(begin))
}

// sayResumed reports the step from which the training continues, and the lost work of the previous attempt. took is the
// time in which the checkpoint was read.
func (r *run) sayResumed(s state, took time.Duration) {
	if news, ok := r.saves.resumed(s, r.epoch); ok {
		news.Seconds = took.Seconds()
		program.WriteProgress(r.stdout, contract.Progress{Resumed: &news})
	}
}

// trained is the service time of all attempts.
func (r *run) trained() time.Duration { return r.budget.trained() }

// stop writes a checkpoint, if a folder for it is set.
func (r *run) stop(t training) error {
	s, err := t.snapshot()
	if err != nil {
		return err
	}
	if r.saves.path == "" {
		fmt.Fprintf(r.stderr, "tfexp train: stopped after step %d, without a checkpoint: %s is not set\n",
			s.Steps, contract.EnvCheckpointDir)
		return errStopped
	}
	if err := r.saveState(s); err != nil {
		return err
	}
	fmt.Fprintf(r.stderr, "tfexp train: stopped after step %d, with a checkpoint\n", s.Steps)
	return errStopped
}

// saveState writes s as a checkpoint. It reports the checkpoint if checkpoints are also written during the training.
func (r *run) saveState(s state) error {
	mark := time.Now()
	s.Elapsed += mark.Sub(r.mark)
	s.Trained, s.Request = r.trained(), r.request
	if err := writeCheckpoint(r.saves.path, r.config, s); err != nil {
		return err
	}
	r.saves.done(s.Steps, r.epoch)
	seconds := time.Since(mark)
	r.mark = r.mark.Add(seconds) // this time belongs to no epoch
	news := contract.Checkpoint{Step: s.Steps, Epoch: s.epochs(r.passes), Seconds: seconds.Seconds()}
	return program.WriteProgress(r.stdout, contract.Progress{Checkpoint: &news})
}

// saveIfDue writes a checkpoint if it is due. A checkpoint that cannot be written does not end the training; a returned
// error does.
func (r *run) saveIfDue(t training, steps int) error {
	if !r.saves.due(steps, r.epoch) {
		return nil
	}
	return r.saveNow(t)
}

// saveNow writes a checkpoint, if a folder for it is set.
func (r *run) saveNow(t training) error {
	s, err := t.snapshot()
	if err != nil {
		return err
	}
	if err := r.saveState(s); err != nil {
		r.warn("%v", err)
		r.saves.done(s.Steps, r.epoch) // after an error, the next checkpoint is due after another interval
	}
	return nil
}

// reportEpoch prints the epoch that has ended, and begins the next one. The incomplete last epoch of a run by steps has
// no number.
func (r *run) reportEpoch(s *state, whole bool, accuracy float64) error {
	now := time.Now()
	p := contract.Progress{Step: s.Steps, Accuracy: &accuracy}
	if whole {
		p.Epoch = s.epochs(r.passes)
	}
	loss := s.Loss / float64(s.Images)
	s.Elapsed += now.Sub(r.mark)
	r.mark = now
	r.reached = whole && loss <= r.env.Target
	err := r.report(p, loss, s.Elapsed.Seconds())
	s.Loss, s.Images, s.Elapsed = 0, 0, 0
	return err
}

// report prints a progress line.
func (r *run) report(p contract.Progress, loss, seconds float64) error {
	p.Loss, p.Seconds, p.Threads = &loss, &seconds, r.team.threads
	if r.budget.set {
		left, instant := r.budget.leftAt()
		seconds, at := left.Seconds(), float64(instant.UnixMicro())/1e6
		p.TimeLeft, p.At = &seconds, &at
	}
	r.epochs = append(r.epochs, seconds)
	r.epoch = max(r.epoch, p.Epoch)
	return program.WriteProgress(r.stdout, p)
}

func (r *run) warn(format string, args ...any) {
	fmt.Fprintf(r.stderr, "tfexp train: warning: "+format+"\n", args...)
}

// serve runs a parameter server until the training ends.
func (r *run) serve(ctx context.Context) error {
	train, _ := digits.Split(splitSeed, heldOut)
	err := Serve(ctx, Config{
		Program: r.digest(), Part: r.env.Part, PerPass: train.Len(), PerEpoch: train.Len() * r.passes,
		Adam: r.optimizer == "adam", Decay: r.decay,
	}, r.stderr, r.warn)
	if errors.Is(err, ErrStopped) {
		return errStopped
	}
	return err
}
