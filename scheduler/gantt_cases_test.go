package scheduler_test

import (
	"time"

	. "github.com/tfexp/tfexp/scheduler"
)

// ganttCases are worked by hand. The drawings have a row a job and a
// character a second: the cores it holds (hexadecimal), or a dot while it
// waits.
var ganttCases = []struct {
	name    string
	policy  Policy
	cores   int
	cluster *Cluster
	jobs    []Job
	resizes []Resize
	want    string
}{
	{
		name: "fcfs: a wide job keeps later ones waiting", cores: 4,
		policy: Policy{Order: FCFS},
		jobs:   []Job{at(0, 3, 4), at(1, 2, 2), at(2, 1, 1)},
		want: `
		A |3333|
		B | ...22|
		C |  ..1|
		`,
	},
	{
		name: "fcfs, first fit: whoever fits may pass", cores: 4,
		policy: Policy{Order: FCFS, Backfill: FirstFit},
		jobs:   []Job{at(0, 3, 4), at(1, 2, 2), at(2, 1, 6), at(2, 1, 1)},
		want: `
		A |3333|
		B | ...22|
		C |  111111|
		D |  ..1|
		`,
	},
	{
		// B is to start at 4. C would end at 8 on a core that B needs; D ends at 4.
		name: "fcfs, easy: only what does not delay the first", cores: 4,
		policy: Policy{Order: FCFS, Backfill: EASY},
		jobs:   []Job{at(0, 3, 4), at(1, 4, 2), at(2, 1, 6), at(2, 1, 2)},
		want: `
		A |3333|
		B | ...4444|
		`,
	},
}

var _ = time.Second
