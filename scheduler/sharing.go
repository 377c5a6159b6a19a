package scheduler

import "fmt"

// Share implements Hands.
func (l *loop) Share(j, with int32, nodes []int32, why string) error {
	host := &l.lives[with]
	if _, taken := l.mates[with]; taken || host.State != Running || len(host.grant.GPUs) == 0 {
		return fmt.Errorf("job %q cannot share GPUs with job %q: that does not run on GPUs of its own",
			l.Jobs[j].Name, l.Jobs[with].Name)
	}
	cores := l.lives[j].request
	need, _ := l.needs(j, cores)
	need.GPUs = 0
	g := l.machine.Choose(nodes, need, Grant{})
	g.GPUs, g.Alternative = host.grant.GPUs, l.lives[j].Alternative
	g.Beside = &Beside{Job: int(with), Name: l.Jobs[with].Name}
	g.Layout = l.layout(g, nodes)
	if err := l.startWith(j, cores, g, why); err != nil || l.lives[j].State != Running {
		return err
	}
	if l.mates == nil {
		l.mates = map[int32]int32{}
	}
	l.mates[j], l.mates[with] = with, j
	return nil
}

// part leaves the GPUs of a job that ceases to run to the other one on them. What that has
// done beside it is counted first, for it goes on at another speed.
func (l *loop) part(j int32) {
	if mate, ok := l.mates[j]; ok {
		l.settleTime(mate)
		l.lives[mate].grant.Beside = nil
		delete(l.mates, j)
		delete(l.mates, mate)
	}
}
