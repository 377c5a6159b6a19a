package planned

// Movable returns a waiting job that could start before its reservation, next to all others, or -1.
func (b *Book) Movable() int32 {
	for _, k := range b.bookings {
		if k == nil || k.runs || k.at <= b.view.Now() {
			continue
		}
		at := k.at
		if k.wide {
			b.change(k, k.need)
			_, at = b.first(k, k.at)
			b.change(k, k.need.negative())
		} else if _, s := b.firstOnOne(k, k.at); s != nil {
			at = s.at
		}
		if at < k.at {
			return k.job
		}
	}
	return -1
}
