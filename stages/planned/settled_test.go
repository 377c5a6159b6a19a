package planned

// Movable returns a waiting job that could start before its reservation next to all others; -1 if there is no such job.
func (rs *Reservations) Movable() int32 {
	for _, k := range rs.bookings {
		if k == nil || k.runs || k.at <= rs.view.Now() {
			continue
		}
		at := k.at
		if k.wide {
			rs.change(k, k.need)
			_, at = rs.first(k, k.at)
			rs.change(k, k.need.negative())
		} else if _, s := rs.firstOnOne(k, k.at); s != nil {
			at = s.at
		}
		if at < k.at {
			return k.job
		}
	}
	return -1
}
