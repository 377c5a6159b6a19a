package launch

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
)

// Codes of warnings.
const (
	// IgnoredRole is the code of warnings about programs that do not act as the part that they are.
	IgnoredRole = "ignored_role"
)

// meeting checks whether the parts of a job use the addresses that they got.
type meeting struct {
	met  func() (met, known bool)
	stop chan struct{}
	over sync.WaitGroup

	mu             sync.Mutex // guards the fields below
	looked, hasMet bool
}

// OfPart returns a function that receives the output of a part that is not the leading one, called by one goroutine
// at a time; nil if nothing needs the output. Only the leading part should report progress. If another part does, it
// trains by itself, which is a warning.
func (a *ProgressAttempt) OfPart(name string) func(output []byte) {
	if a.board.warn == nil {
		return nil
	}
	var tail contract.Tail
	said := false
	return func(output []byte) {
		if said {
			return
		}
		tail.Add(output, func(contract.Progress) {
			if !said {
				said = true
				a.warnOfRole("its part %s reports progress of its own, as if it trained alone: its program has to act by %s, "+
					"and the "+
					"chief alone to report (jobs/README.md)", name, contract.EnvRole)
			}
		})
	}
}

// Meet starts to check whether the parts of the job connect. met reports whether a process listens or is connected
// at one of their addresses, and whether that can be known. If no process ever does until the job has finished, the
// program ignores its role, which is a warning.
func (a *ProgressAttempt) Meet(met func() (met, known bool)) {
	if a.board.warn == nil {
		return
	}
	m := &meeting{met: met, stop: make(chan struct{})}
	a.meeting = m
	m.over.Go(func() {
		for pause := 10 * time.Millisecond; !m.look(); pause = min(2*pause, time.Second) {
			select {
			case <-m.stop:
				return
			case <-time.After(pause):
			}
		}
	})
}

// look checks once. It reports whether no further check is needed.
func (m *meeting) look() bool {
	met, known := m.met()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looked, m.hasMet = m.looked || known, m.hasMet || met
	return m.hasMet
}

// Last checks a last time, while the parts still run. It is called when the first of them has ended.
func (a *ProgressAttempt) Last() {
	if a.meeting != nil {
		a.meeting.look()
	}
}

// partEnds ends the checks of the job's parts.
func (a *ProgressAttempt) partEnds(finished bool) {
	m := a.meeting
	if m == nil {
		return
	}
	a.meeting = nil
	close(m.stop)
	m.over.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if finished && m.looked && !m.hasMet {
		a.warnOfRole("none of its parts ever listened at its address: its program ignores %s and %s (jobs/README.md), and "+
			"if it "+
			"trains, each part trained alone", contract.EnvRole, contract.EnvCluster)
	}
}

// warnOfRole warns that the program of the job ignores its role.
func (a *ProgressAttempt) warnOfRole(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.place != "" {
		text = a.place + ": " + text
	}
	a.board.warn(a.job, IgnoredRole, text)
}

// ClusterConnected reports whether a process listens or is connected at an address of the cluster. It reads the
// network tables in net, the folder /proc/PID/net of Linux. known is false if there are no tables.
func ClusterConnected(c contract.Cluster, net string) (met, known bool) {
	var ports []uint64
	for _, addresses := range c {
		for _, a := range addresses {
			if i := bytes.LastIndexByte([]byte(a), ':'); i >= 0 {
				if port, err := strconv.ParseUint(a[i+1:], 10, 16); err == nil {
					ports = append(ports, port)
				}
			}
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := folder.ReadSystem(filepath.Join(net, table))
		if err != nil {
			continue
		}
		known = true
		for line := range bytes.Lines(text) {
			if f := bytes.Fields(line); len(f) > 2 && (slices.Contains(ports, portOf(f[1])) ||
				slices.Contains(ports, portOf(f[2]))) {
				return true, true
			}
		}
	}
	return false, known
}

// portOf returns the port of an address as Linux writes it: "0100007F:1F90".
func portOf(address []byte) uint64 {
	_, port, _ := bytes.Cut(address, []byte(":"))
	n, err := strconv.ParseUint(string(port), 16, 16)
	if err != nil {
		return 0
	}
	return n
}
