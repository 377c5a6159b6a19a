package scheduler

import (
	"fmt"
	"slices"
	"time"
)

// makeRoom pauses running jobs that are strictly worse than a waiting one, if
// that lets it start: in the order of the victim rule, as many as needed, and
// none if all of them would not make room. It reports whether any running job
// is worse at all, and whether there is room now.
func (l *loop) makeRoom(j int32) (worse, done bool, err error) {
	mine := l.rank(j)
	cores := l.atLeast(j)
	chosen := l.scratch.victims[:0]
	rooms := append(l.scratch.rooms[:0], l.machine.Free...)
	l.scratch.rooms = rooms
	if l.follower != nil {
		l.victims.Forget() // who is paused may change the ranks of others
	}
	for i, k, some := l.victims.Worse(0, mine); some; i, k, some = l.victims.Worse(i+1, mine) {
		if l.life(k).yields {
			continue
		}
		chosen = append(chosen, k)
		l.scratch.victims = chosen
		l.addHeld(rooms, k)
		nodes, ok := l.fitIn(rooms, j, cores, l.scratch.nodes[:0])
		l.scratch.nodes = nodes
		if ok {
			return true, true, l.pauseAll(chosen, nodes, j)
		}
	}
	return len(chosen) > 0, false, nil
}

// pauseAll pauses those of the victims that hold something of the nodes on which
// a waiting job will start.
func (l *loop) pauseAll(chosen, nodes []int32, j int32) error {
	why := ""
	if l.recording() {
		why = fmt.Sprintf("makes room for %q", l.Jobs[j].Name)
	}
	for _, victim := range chosen {
		if !l.machine.Touches(l.life(victim).grant, nodes) {
			continue
		}
		if err := l.pause(victim, why); err != nil {
			return err
		}
	}
	return nil
}

// pause pauses a running job, which waits again at its own level.
func (l *loop) pause(j int32, why string) error {
	if err := l.halt(j); err != nil {
		return err
	}
	l.release(j)
	l.paused(j, why)
	if l.rules.Feedback > 0 { // else it has its own
		l.life(j).level = int32(max(l.Jobs[j].Priority, 0))
	}
	l.wait(j)
	return nil
}

// offerVictim and withdrawVictim keep the running jobs in the order in which
// they would be paused.
func (l *loop) offerVictim(j int32) {
	if l.rules.Victims != nil {
		first, second := l.rules.Victims(JobView{l, j})
		l.victims.Offer(Victim{First: first, Second: second, Job: j})
	}
}

func (l *loop) withdrawVictim(j int32) {
	if l.rules.Victims != nil {
		l.victims.Withdraw(j)
	}
}

// service returns the service time of a running job up to now.
func (l *loop) service(j int32) time.Duration { return l.life(j).service + l.now - l.life(j).since }

// addHeld adds what a running job would give back if it were paused.
func (l *loop) addHeld(rooms []Room, j int32) {
	l.machine.AddHeld(rooms, l.life(j).grant)
}

// addAll adds what a running job would give back if it ended.
func (l *loop) addAll(rooms []Room, j int32) {
	l.addHeld(rooms, j)
	if memory := l.memoryOf(j); memory > 0 {
		for _, v := range l.home(j) {
			rooms[v].Memory += memory
		}
	}
}

// heldUpAs reports whether a waiting job could not start with its present alternative even
// if all running jobs had ended.
func (l *loop) heldUpAs(j int32) bool {
	cores := l.atLeast(j)
	if need, _ := l.needs(j, cores); need.Memory == 0 || l.started == len(l.running)-len(l.turns.Jobs) {
		return false
	}
	rooms := slices.Clone(l.machine.Free)
	for _, k := range l.running {
		if !l.life(k).yields {
			l.addAll(rooms, k)
		}
	}
	_, ok := l.fitIn(rooms, j, cores, nil)
	return !ok
}
