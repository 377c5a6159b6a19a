// Package program helps training programs follow the contract with tfexp: it reads their environment and control file,
// and prints their progress. Package contract defines the contract.
package program

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Env has the values of the contract's environment variables.
type Env struct {
	Job string
	// Epochs or Steps is the total work; 0 if not set.
	Epochs, Steps int
	// Threads is the allotment at the start; 1 and 1 if not set.
	Threads       contract.Allotment
	GPUs          int
	CheckpointDir string // empty: no checkpoints
	ControlPath   string // empty: no control file
	// CheckpointEvery is how often to write a checkpoint; zero means only on request.
	CheckpointEvery Interval
	// Budget is how long the job may train over all its attempts, without paused time; nil means no limit.
	Budget *time.Duration
	// Target is the training loss at which the job ends; 0 means no target.
	Target float64
	// Part identifies the program in a job with roles; zero for other jobs.
	Part contract.Part
}

// FromEnv reads the contract's environment through getenv, which is os.Getenv in a real program. It returns an error
// for malformed or out-of-range numbers, if both epochs and steps are set, or if the cluster lacks the program's role.
func FromEnv(getenv func(string) string) (Env, error) {
	env := Env{
		Job:           getenv(contract.EnvJob),
		Threads:       contract.Allotment{Inter: 1, Intra: 1},
		CheckpointDir: getenv(contract.EnvCheckpointDir),
		ControlPath:   getenv(contract.EnvControl),
	}
	for _, v := range []struct {
		name  string
		least int
		to    *int
	}{
		{contract.EnvEpochs, 1, &env.Epochs},
		{contract.EnvSteps, 1, &env.Steps},
		{contract.EnvInter, 1, &env.Threads.Inter},
		{contract.EnvIntra, 1, &env.Threads.Intra},
		{contract.EnvGPUs, 0, &env.GPUs},
	} {
		s := getenv(v.name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < v.least {
			return Env{}, fmt.Errorf("read environment: %s is %q, want a whole number of at least %d", v.name, s, v.least)
		}
		*v.to = n
	}
	if env.Epochs > 0 && env.Steps > 0 {
		return Env{}, fmt.Errorf("read environment: both %s and %s are set, want one of them", contract.EnvEpochs, contract.EnvSteps)
	}
	var err error
	if env.CheckpointEvery, err = ParseInterval(getenv(contract.EnvCheckpointEvery)); err != nil {
		return Env{}, fmt.Errorf("read environment: %s: %w", contract.EnvCheckpointEvery, err)
	}
	if s := getenv(contract.EnvBudget); s != "" {
		seconds, err := strconv.ParseFloat(s, 64)
		if err != nil || !finite(seconds) || seconds < 0 {
			return Env{}, fmt.Errorf("read environment: %s is %q, want a number of seconds of at least 0", contract.EnvBudget, s)
		}
		budget := contract.Seconds(seconds)
		env.Budget = &budget
	}
	if s := getenv(contract.EnvTarget); s != "" {
		env.Target, err = strconv.ParseFloat(s, 64)
		if err != nil || !finite(env.Target) || env.Target <= 0 {
			return Env{}, fmt.Errorf("read environment: %s is %q, want a loss above 0", contract.EnvTarget, s)
		}
	}
	if env.Part, err = partFromEnv(getenv); err != nil {
		return Env{}, fmt.Errorf("read environment: %w", err)
	}
	return env, nil
}

// partFromEnv reads a program's part; it is zero if no role is set.
func partFromEnv(getenv func(string) string) (contract.Part, error) {
	p := contract.Part{Role: getenv(contract.EnvRole)}
	if p.Role == "" {
		return contract.Part{}, nil
	}
	if s := getenv(contract.EnvTask); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return contract.Part{}, fmt.Errorf("%s is %q, want a whole number of at least 0", contract.EnvTask, s)
		}
		p.Task = n
	}
	if err := json.Unmarshal([]byte(getenv(contract.EnvCluster)), &p.Cluster); err != nil {
		return contract.Part{}, fmt.Errorf("%s is not a JSON object of role and list of addresses: %w", contract.EnvCluster, err)
	}
	for role, addresses := range p.Cluster {
		for _, a := range addresses {
			if _, _, err := net.SplitHostPort(a); err != nil {
				return contract.Part{}, fmt.Errorf("%s: role %s: %q is not an address host:port", contract.EnvCluster, role, a)
			}
		}
	}
	if n := len(p.Cluster[p.Role]); p.Task >= n {
		return contract.Part{}, fmt.Errorf("%s has %d parts of role %s, and this is number %d (from 0)",
			contract.EnvCluster, n, p.Role, p.Task)
	}
	return p, nil
}

// Interval is how often something is done: after a number of steps, a number of epochs, or a time. At most one is set.
type Interval struct {
	Steps, Epochs int
	Time          time.Duration
}

// ParseInterval parses "500steps", "2epochs" or a duration such as "10m". An empty text is the zero interval: never.
func ParseInterval(s string) (Interval, error) {
	if s == "" {
		return Interval{}, nil
	}
	wrong := fmt.Errorf(`%q is not an interval, want one such as "500steps", "2epochs" or "10m"`, s)
	var i Interval
	for unit, to := range map[string]*int{"steps": &i.Steps, "epochs": &i.Epochs} {
		if count, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.Atoi(strings.TrimSpace(count))
			if err != nil || n < 1 {
				return Interval{}, wrong
			}
			*to = n
			return i, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return Interval{}, wrong
	}
	return Interval{Time: d}, nil
}

// String returns the interval in the form that ParseInterval reads.
func (i Interval) String() string {
	switch {
	case i.Steps > 0:
		return strconv.Itoa(i.Steps) + "steps"
	case i.Epochs > 0:
		return strconv.Itoa(i.Epochs) + "epochs"
	case i.Time > 0:
		return i.Time.String()
	}
	return ""
}

// IsChief reports whether p is the part that reports for the whole job.
func IsChief(p contract.Part) bool {
	if len(p.Cluster[contract.RoleChief]) > 0 {
		return p.Role == contract.RoleChief && p.Task == 0
	}
	return p.Role == contract.RoleWorker && p.Task == 0
}
