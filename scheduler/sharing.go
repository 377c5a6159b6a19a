package scheduler

// Share implements Hands.
func (l *loop) Share(j, with int32, nodes []int32, why string) error {
	need, _ := l.needs(j, l.lives[j].request)
	g, err := l.machine.Beside(l.lives[with].grant, Beside{Job: int(with), Name: l.Jobs[with].Name}, nodes, need)
	if err != nil {
		return err
	}
	g.Alternative = int(l.lives[j].alternative)
	if err = l.startWith(j, l.lives[j].request, g, why); err == nil && l.lives[j].state == Running {
		l.mates.Join(j, with)
	}
	return err
}
