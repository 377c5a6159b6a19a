package plan

import (
	"slices"
	"sort"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// profile is the free resources of one node as a step function of time. A step holds from its instant to the next
// one's; the last step has no end. Steps are grouped in blocks, which know their minimum and maximum. So a search
// passes a whole block at a time, and a change touches each block once.
type profile struct{ blocks []*block }

type step struct {
	at   time.Duration
	free scheduler.Room // without the block's more
}

type block struct {
	steps       []step
	least, most scheduler.Room // of the steps, resource by resource
	more        scheduler.Room // to be added to each step, to least and to most
}

// blockSteps is the most steps of a block; one that is full is divided.
const blockSteps = 64

// newProfile returns the profile of a node on which nothing changes.
func newProfile(now time.Duration, free scheduler.Room) profile {
	b := &block{steps: append(make([]step, 0, blockSteps), step{now, free})}
	b.bound()
	return profile{[]*block{b}}
}

// plus is the sum of two rooms, of the first one's kind.
func plus(a, b scheduler.Room) scheduler.Room {
	a.Add(b)
	return a
}

// bound finds the least and the most of the steps.
func (b *block) bound() {
	b.least, b.most = b.steps[0].free, b.steps[0].free
	for i := range b.steps[1:] {
		r := &b.steps[i+1].free
		b.least = leastOf(b.least, *r)
		b.most.Cores, b.most.GPUs, b.most.Memory =
			max(b.most.Cores, r.Cores), max(b.most.GPUs, r.GPUs), max(b.most.Memory, r.Memory)
	}
}

// find returns the place of the step that an instant of the profile falls into.
func (p *profile) find(at time.Duration) (in, i int) {
	in = sort.Search(len(p.blocks), func(k int) bool { return p.blocks[k].steps[0].at > at }) - 1
	steps := p.blocks[in].steps
	return in, sort.Search(len(steps), func(k int) bool { return steps[k].at > at }) - 1
}

// split makes sure that a step begins at an instant.
func (p *profile) split(at time.Duration) {
	in, i := p.find(at)
	b := p.blocks[in]
	if b.steps[i].at == at {
		return
	}
	if len(b.steps) == blockSteps {
		half := &block{steps: append(make([]step, 0, blockSteps), b.steps[blockSteps/2:]...), more: b.more}
		b.steps = b.steps[:blockSteps/2]
		b.bound()
		half.bound()
		p.blocks = slices.Insert(p.blocks, in+1, half)
		if i >= blockSteps/2 {
			b, i = half, i-blockSteps/2
		}
	}
	b.steps = slices.Insert(b.steps, i+1, step{at, b.steps[i].free})
}

// join takes the step that begins at an instant into the one before, if they are equal.
func (p *profile) join(at time.Duration) {
	in, i := p.find(at)
	b := p.blocks[in]
	if b.steps[i].at != at || in+i == 0 {
		return
	}
	before, k := b, i-1
	if i == 0 {
		before = p.blocks[in-1]
		k = len(before.steps) - 1
	}
	if plus(before.steps[k].free, before.more) != plus(b.steps[i].free, b.more) {
		return
	}
	if b.steps = slices.Delete(b.steps, i, i+1); len(b.steps) == 0 {
		p.blocks = slices.Delete(p.blocks, in, in+1)
		return
	}
	b.bound()
}

// change adds to the free resources in a stretch of the profile.
func (p *profile) change(from, to time.Duration, by scheduler.Room) {
	if from >= to {
		return
	}
	if to != scheduler.Never {
		p.split(to)
	}
	p.split(from)
	for in, i := p.find(from); in < len(p.blocks) && p.blocks[in].steps[0].at < to; in, i = in+1, 0 {
		b := p.blocks[in]
		last := len(b.steps)
		for last > 0 && b.steps[last-1].at >= to {
			last--
		}
		if i == 0 && last == len(b.steps) {
			b.more.Add(by)
			continue
		}
		for k := range b.steps[i:last] {
			b.steps[i+k].free.Add(by)
		}
		b.bound()
	}
	if to != scheduler.Never {
		p.join(to)
	}
	p.join(from)
}

// now returns the resources that are free now.
func (p *profile) now() scheduler.Room { return plus(p.blocks[0].steps[0].free, p.blocks[0].more) }

// advance drops the steps before an instant, which becomes the present.
func (p *profile) advance(now time.Duration) {
	in, i := p.find(now)
	p.blocks = p.blocks[in:]
	b := p.blocks[0]
	b.steps[i].at = now
	if i > 0 {
		b.steps = slices.Delete(b.steps, 0, i)
		b.bound()
	}
}

// next returns the first instant after another one at which a step begins; Never if there is no such step.
func (p *profile) next(after time.Duration) time.Duration {
	in, i := p.find(after)
	if i++; i < len(p.blocks[in].steps) {
		return p.blocks[in].steps[i].at
	}
	if in+1 < len(p.blocks) {
		return p.blocks[in+1].steps[0].at
	}
	return scheduler.Never
}

// lowest returns the resources that are free throughout a stretch.
func (p *profile) lowest(from, to time.Duration) scheduler.Room {
	in, i := p.find(from)
	b := p.blocks[in]
	low := plus(b.steps[i].free, b.more)
	for ; in < len(p.blocks) && p.blocks[in].steps[0].at < to; in, i = in+1, 0 {
		b := p.blocks[in]
		if i == 0 && b.steps[len(b.steps)-1].at < to {
			low = leastOf(low, plus(b.least, b.more))
			continue
		}
		for ; i < len(b.steps) && b.steps[i].at < to; i++ {
			low = leastOf(low, plus(b.steps[i].free, b.more))
		}
	}
	return low
}

// mostCores returns the most cores that are free at some instant of a stretch.
func (p *profile) mostCores(in stretch) (most int32) {
	for k, i := p.find(in.from); k < len(p.blocks) && p.blocks[k].steps[0].at < in.to; k, i = k+1, 0 {
		b := p.blocks[k]
		if i == 0 && b.steps[len(b.steps)-1].at < in.to {
			most = max(most, b.most.Cores+b.more.Cores)
			continue
		}
		for ; i < len(b.steps) && b.steps[i].at < in.to; i++ {
			most = max(most, b.steps[i].free.Cores+b.more.Cores)
		}
	}
	return most
}

// reach returns the longest time span around a stretch in which the given cores are free. It contains the stretch.
func (p *profile) reach(around stretch, cores int32) stretch {
	k, i := p.find(around.from)
	if p.blocks[k].steps[i].at == around.from {
		i--
	}
	for ; k >= 0; i-- { // backwards, while the step before has them
		if i < 0 {
			for k--; k >= 0 && p.blocks[k].least.Cores+p.blocks[k].more.Cores >= cores; k-- {
				around.from = p.blocks[k].steps[0].at
			}
			if k < 0 {
				break
			}
			i = len(p.blocks[k].steps) - 1
		}
		if b := p.blocks[k]; b.steps[i].free.Cores+b.more.Cores < cores {
			break
		}
		around.from = p.blocks[k].steps[i].at
	}
	if around.to == scheduler.Never {
		return around
	}
	for k, i = p.find(around.to); k < len(p.blocks); k, i = k+1, 0 {
		b := p.blocks[k]
		if i == 0 && b.least.Cores+b.more.Cores >= cores {
			continue
		}
		for ; i < len(b.steps); i++ {
			if b.steps[i].free.Cores+b.more.Cores < cores {
				around.to = max(around.to, b.steps[i].at)
				return around
			}
		}
	}
	around.to = scheduler.Never
	return around
}

// first returns the first instant in a stretch from which there is room for a length of time; Never if there is no
// such instant. In the stretch own, which begins and ends with steps, the need is already available.
func (p *profile) first(need scheduler.Room, length time.Duration, within, own stretch) time.Duration {
	start, end := scheduler.Never, scheduler.Never // of a stretch that had room so far
	if kind := (scheduler.Room{Kind: need.Kind, Market: need.Market}); !p.now().Holds(kind) {
		return start
	}
	first, _ := p.find(within.from)
	for _, b := range p.blocks[first:] {
		at, last := b.steps[0].at, b.steps[len(b.steps)-1].at
		// This is the need from the steps of the block, which do not include its more.
		all := amounts{need.Cores - b.more.Cores, need.GPUs - b.more.GPUs, need.Memory - b.more.Memory}
		beside := amounts{-b.more.Cores, -b.more.GPUs, -b.more.Memory}
		switch {
		case start != scheduler.Never && at >= end:
			return start
		case start == scheduler.Never && at >= within.to:
			return scheduler.Never
		case start != scheduler.Never && (all.in(&b.least) || own.from <= at && last < own.to && beside.in(&b.least)):
			continue
		case start == scheduler.Never && !all.in(&b.most):
			continue
		}
		for i := range b.steps {
			s := &b.steps[i]
			holds := all.in(&s.free)
			switch {
			case start != scheduler.Never && s.at >= end:
				return start
			case start == scheduler.Never && s.at >= within.to:
				return scheduler.Never
			case start == scheduler.Never && holds:
				start, end = s.at, Until(s.at, length)
			case !holds && !(own.from <= s.at && s.at < own.to && beside.in(&s.free)):
				start = scheduler.Never
			}
		}
	}
	return start
}

// amounts are the needs of each resource.
type amounts struct {
	cores, gpus int32
	memory      int64
}

// in reports whether a room has the amounts.
func (a *amounts) in(r *scheduler.Room) bool {
	return r.Cores >= a.cores && r.GPUs >= a.gpus && r.Memory >= a.memory
}
