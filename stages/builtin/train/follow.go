package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/program"
)

// refusal is an error with the reason why a request cannot be carried out. The training continues.
type refusal string

func (r refusal) Error() string { return string(r) }

// threadsAtStart sets the number of threads from the flag, else from the control file, else from the environment. They
// are the intra-op pool, because the images of a batch are divided within one operation.
func (r *run) threadsAtStart() {
	if r.env.ControlPath != "" {
		r.control = program.NewControl(r.env.ControlPath)
	}
	if r.threads > 0 {
		r.team.resize(r.threads)
		return
	}
	r.team.resize(r.env.Threads.Intra)
	if r.control == nil {
		return
	}
	// Other requests of the message are carried out later, when follow reads the file.
	if m, _, err := program.NewControl(r.env.ControlPath).Read(); err == nil {
		r.allot(m)
	}
}

// allot changes the number of threads to a message's allotment.
func (r *run) allot(m contract.Message) {
	if a, ok := program.Threads(m); ok && r.threads == 0 && a.Intra != r.team.threads {
		r.team.resize(a.Intra)
	}
}

// read reads the control file. It returns false if the file has no new message.
func (r *run) read() (contract.Message, bool) {
	if r.control == nil {
		return contract.Message{}, false
	}
	m, changed, err := r.control.Read()
	if err != nil && !r.warned {
		r.warn("%v; continuing with %d threads", err, r.team.threads)
		r.warned = true
	}
	if !changed {
		return contract.Message{}, false
	}
	r.warned = false
	r.allot(m)
	r.budget.follow(m)
	return m, true
}

// follow carries out a new message of the control file. It is called between two steps. An error ends the training.
func (r *run) follow(t training) error {
	m, changed := r.read()
	if !changed {
		return nil
	}
	if err := r.changeSettings(t, m); err != nil {
		return err
	}
	request := program.IDOf(m)
	if !m.Asks() || request == r.request {
		return nil
	}
	if m.Deepen != nil {
		if err := r.deepen(t, *m.Deepen); err != nil {
			return err
		}
	}
	r.request = request
	switch {
	case !m.Checkpoint && m.Warning == nil:
	case r.saves.path == "":
		return r.refuse("checkpoint", contract.EnvCheckpointDir+" is not set")
	default:
		return r.saveNow(t)
	}
	return nil
}

// changeable are the names of the settings that can change while a program trains.
var changeable = []string{"batch", "learning_rate"}

// Changeable returns the names of the settings that can change while a built-in program trains.
func Changeable() []string { return slices.Clone(changeable) }

// changeSettings changes settings to the values in a message.
func (r *run) changeSettings(t training, m contract.Message) error {
	mark := time.Now()
	changed := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		text, _ := m.Setting(name)
		next := r.current()
		err := next.set(name, text)
		switch {
		case err == nil && next.same(r.current()):
			continue
		case err == nil && !slices.Contains(changeable, name):
			err = errors.New("it cannot change while the program runs: restart the program with another value")
		case err == nil:
			err = t.change(name, next)
			if err != nil {
				return err
			}
			r.present = &next
			changed[name] = m.Settings[name]
			continue
		}
		if err := r.refuse(name, err.Error()); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return program.WriteProgress(r.stdout, contract.Progress{
		Changed: &contract.Changed{Settings: changed, Seconds: time.Since(mark).Seconds()},
	})
}

// current returns the configuration with the present settings.
func (r *run) current() config {
	if r.present != nil {
		return *r.present
	}
	return r.config
}

// same reports whether two configurations have the same settings.
func (c config) same(d config) bool { return fmt.Sprintf("%+v", c) == fmt.Sprintf("%+v", d) }

// deepen adds a layer to a block, or reports why it cannot.
func (r *run) deepen(t training, block int) error {
	mark := time.Now()
	news, err := t.deepen(block)
	var no refusal
	switch {
	case errors.As(err, &no):
		return r.refuse("deepen", no.Error())
	case err != nil:
		return err
	case news.Layers == 0:
		return nil // the request adds no layer
	}
	news.Seconds = time.Since(mark).Seconds()
	return program.WriteProgress(r.stdout, contract.Progress{Deepened: &news})
}

func (r *run) refuse(what, reason string) error {
	return program.WriteProgress(r.stdout, contract.Progress{Refused: what, Reason: reason})
}
