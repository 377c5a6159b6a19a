package scheduler

// Share implements Hands.
func (l *loop) Share(j, with int32, nodes []int32, why string) error {
	need, _ := l.needs(j, l.life(j).request)
	g, err := l.machine.Beside(l.life(with).grant, Beside{Job: int(with), Name: l.Jobs[with].Name}, nodes, need)
	if err != nil {
		return err
	}
	g.Alternative = int(l.life(j).alternative)
	if err = l.startWith(j, l.life(j).request, g, why); err == nil && l.life(j).state == Running {
		l.mates.Join(j, with)
	}
	return err
}
