package scheduler_test

import (
	"time"

	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// ganttCases are schedules worked by hand. A drawing has one row for each job and one character for each second: the
// number of cores that the job holds (hexadecimal), or a dot while it waits.
var ganttCases = []struct {
	name    string
	policy  Policy
	cores   int
	cluster *Cluster
	jobs    []Job
	resizes []Resize
	runs    map[int]time.Duration // actual run times of some jobs, if different from the predictions
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
		// B can start at 4. C would hold a core that B needs until 8, so it may not pass B. D ends at 4, so it may.
		name: "fcfs, easy: only what does not delay the first", cores: 4,
		policy: Policy{Order: FCFS, Backfill: EASY},
		jobs:   []Job{at(0, 3, 4), at(1, 4, 2), at(2, 1, 6), at(2, 1, 2)},
		want: `
		A |3333|
		B | ...44|
		C |  ....111111|
		D |  11|
		`,
	},
	{
		// At 4 B needs 3 of the 4 cores, so C may run beyond 4 on the fourth.
		name: "fcfs, easy: beside the reservation there is room", cores: 4,
		policy: Policy{Order: FCFS, Backfill: EASY},
		jobs:   []Job{at(0, 3, 4), at(1, 3, 2), at(2, 1, 6)},
		want: `
		A |3333|
		B | ...33|
		C |  111111|
		`,
	},
	{
		// Under EASY C has no reservation: D passes C, which starts at 8.
		name: "fcfs, easy delays the second", cores: 4,
		policy: Policy{Order: FCFS, Backfill: EASY},
		jobs:   []Job{at(0, 3, 4), at(1, 3, 2), at(1, 4, 1), at(2, 1, 6)},
		want: `
		A |3333|
		B | ...33|
		C | .......4|
		D |  111111|
		`,
	},
	{
		// C has a reservation at 6. D would delay it, so D may not start.
		name: "fcfs, conservative delays nobody", cores: 4,
		policy: Policy{Order: FCFS, Backfill: "conservative"},
		jobs:   []Job{at(0, 3, 4), at(1, 3, 2), at(1, 4, 1), at(2, 1, 6)},
		want: `
		A |3333|
		B | ...33|
		C | .....4|
		D |  .....111111|
		`,
	},
	{
		// B has 4 core-seconds of work. It gets one core and keeps only this one to its end.
		name: "fcfs, always attend: a rigid job keeps the little it got", cores: 4,
		policy: Policy{Allocation: AlwaysAttend},
		jobs:   []Job{at(0, 3, 2), at(1, 2, 2)},
		want: `
		A |33|
		B | 1111|
		`,
	},
	{
		// B does 1 core-second on one core and then 2 per second on two cores.
		name: "fcfs, always attend: a malleable job grows", cores: 4,
		policy: Policy{Allocation: AlwaysAttend},
		jobs:   []Job{at(0, 3, 2), malleable(at(1, 2, 2.5))},
		want: `
		A |33|
		B | 122|
		`,
	},
	{
		// A shrinks to 6·6/12 = 3 cores when B arrives, and grows again when B ends.
		name: "fcfs, max prop: malleable jobs share", cores: 6,
		policy: Policy{Allocation: MaxProp},
		jobs:   []Job{malleable(at(0, 6, 3)), malleable(at(1, 6, 1))},
		want: `
		A |6336|
		B | 33|
		`,
	},
	{
		// A keeps its 6 cores. B and C share them afterwards in proportion to 6 and 3. No running job grows.
		name: "fcfs, max prop: rigid jobs are sized once", cores: 6,
		policy: Policy{Allocation: MaxProp},
		jobs:   []Job{at(0, 6, 2), at(1, 6, 4), at(1, 3, 2)},
		want: `
		A |66|
		B | .444444|
		C | .222|
		`,
	},
	{
		// 8 cores are shared by requests of 5, 5 and 5. Each gets 2.67, which is rounded to 3, 3 and 2.
		name: "fcfs, max prop: largest remainder", cores: 8,
		policy: Policy{Allocation: MaxProp},
		jobs:   []Job{at(0, 5, 3), at(0, 5, 3), at(0, 5, 2)},
		want: `
		A |33333|
		B |33333|
		C |22222|
		`,
	},
	{
		name: "priority: the better level goes first, nobody is stopped", cores: 2,
		policy: Policy{Order: Priority},
		jobs:   []Job{level(1, at(0, 2, 3)), level(1, at(1, 2, 2)), level(0, at(2, 2, 1))},
		want: `
		A |222|
		B | ...22|
		C |  .2|
		`,
	},
	{
		// C pauses A, which has a lower priority. B does not have a higher priority than A, so it waits.
		name: "priority, strict, pause", cores: 2,
		policy: Policy{Order: Priority, Preemption: PausePreemption},
		jobs:   []Job{level(1, at(0, 2, 3)), level(1, at(1, 2, 2)), level(0, at(2, 2, 1))},
		want: `
		A |22.2|
		B | ...22|
		C |  2|
		`,
	},
	{
		// A and B have lower priorities than C. A is paused, because it has run longer.
		name: "priority, pause: the longest run first", cores: 3,
		policy: Policy{Order: Priority, Preemption: PausePreemption, Victims: LongestRun},
		jobs:   []Job{level(1, at(0, 2, 4)), level(1, at(1, 1, 4)), level(0, at(2, 1, 2))},
		want: `
		A |22..22|
		B | 1111|
		C |  11|
		`,
	},
	{
		// B is paused, because it holds fewer cores than A and these are enough.
		name: "priority, pause: the smallest request first", cores: 3,
		policy: Policy{Order: Priority, Preemption: PausePreemption, Victims: SmallestRequest},
		jobs:   []Job{level(1, at(0, 2, 4)), level(1, at(1, 1, 4)), level(0, at(2, 1, 2))},
		want: `
		A |2222|
		B | 1..111|
		C |  11|
		`,
	},
	{
		// C needs 3 cores. Only A has a lower priority, and its cores are not enough, so nothing is paused.
		name: "priority, pause: none if all would not make room", cores: 3,
		policy: Policy{Order: Priority, Preemption: PausePreemption},
		jobs:   []Job{level(2, at(0, 2, 4)), level(0, at(1, 1, 4)), level(1, at(2, 3, 1))},
		want: `
		A |2222|
		B | 1111|
		C |  ...3|
		`,
	},
	{
		// C takes the free cores and pauses A for more. A resumes when cores are free.
		name: "priority, always attend, pause", cores: 2,
		policy: Policy{Order: Priority, Allocation: AlwaysAttend, Preemption: PausePreemption},
		jobs:   []Job{level(1, at(0, 2, 3)), level(0, at(1, 4, 1))},
		want: `
		A |2..22|
		B | 22|
		`,
	},
	{
		// No core is left to share: A and B hold all cores and are rigid.
		name: "priority, max prop, pause", cores: 2,
		policy: Policy{Order: Priority, Allocation: MaxProp, Preemption: PausePreemption},
		jobs:   []Job{level(1, at(0, 1, 3)), level(2, at(0, 1, 3)), level(0, at(1, 2, 1))},
		want: `
		A |111|
		B |1..11|
		C | 11|
		`,
	},
	{
		// At 5, B, C and D are at level 0. B has risen there in 4 s of waiting, C in 2 s. The job that arrived first
		// runs first.
		name: "priority, feedback", cores: 1,
		policy: Policy{Order: Priority, Settings: Settings{"feedback": 2 * time.Second}},
		jobs:   []Job{level(0, at(0, 1, 5)), level(2, at(0, 1, 2)), level(1, at(1, 1, 2)), level(0, at(4, 1, 2))},
		want: `
		A |11111|
		B |.....11|
		C | ......11|
		D |    .....11|
		`,
	},
	{
		// At 4 B reaches level 0, while A is at level 1. B pauses A, and keeps level 0 while it runs.
		name: "priority, feedback, pause: back to its own level", cores: 1,
		policy: Policy{Order: Priority, Preemption: PausePreemption, Settings: Settings{"feedback": 2 * time.Second}},
		jobs:   []Job{level(1, at(0, 1, 6)), level(2, at(0, 1, 3)), level(1, at(5, 1, 1))},
		want: `
		A |1111...11|
		B |....111|
		C |     ....1|
		`,
	},
	{
		name: "round robin on one core", cores: 1,
		policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}},
		jobs:   []Job{at(0, 1, 5), at(1, 1, 3), at(2, 1, 1)},
		want: `
		A |11...11.1|
		B | .11...1|
		C |  ..1|
		`,
	},
	{
		name: "round robin: alone, a new quantum begins", cores: 1,
		policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}},
		jobs:   []Job{at(0, 1, 5), at(5, 1, 1), at(5, 1, 3)},
		want: `
		A |11111|
		B |     1|
		C |     .111|
		`,
	},
	{
		// At 2 the turns of A and B are over. C takes core 0 and A takes B's core. B waits.
		name: "round robin: its own cores back, it goes on", cores: 2,
		policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}},
		jobs:   []Job{at(0, 1, 4), at(0, 1, 4), at(1, 1, 2)},
		want: `
		A |1111|
		B |11..11|
		C | .11|
		`,
	},
	{
		// At 2 the turn of A is over. C needs both cores, so A continues. At 3 C gets them.
		name: "round robin: a turn that nobody can use goes on", cores: 2,
		policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}, Backfill: FirstFit},
		jobs:   []Job{at(0, 1, 3), at(1, 1, 3), at(1, 2, 1)},
		want: `
		A |111|
		B | 11.1|
		C | ..2|
		`,
	},
	{
		name: "round robin, always attend", cores: 3,
		policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}, Allocation: AlwaysAttend},
		jobs:   []Job{at(0, 2, 3), malleable(at(0, 2, 3)), at(1, 1, 1)},
		want: `
		A |222|
		B |11.22|
		C | .1|
		`,
	},
	{
		// Three jobs share two cores, two of them at a time.
		name: "round robin, max prop", cores: 2,
		policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}, Allocation: MaxProp},
		jobs:   []Job{malleable(at(0, 2, 2)), malleable(at(0, 2, 2)), malleable(at(0, 2, 1))},
		want: `
		A |1111|
		B |11..2|
		C |..11|
		`,
	},
	{
		name: "sjf: the shortest next", cores: 1,
		policy: Policy{Order: SJF},
		jobs:   []Job{at(0, 1, 2), at(0, 1, 3), at(1, 1, 1), at(1, 1, 2)},
		want: `
		A |11|
		B |.....111|
		C | .1|
		D | ..11|
		`,
	},
	{
		// B is shorter than A's whole run time, so it pauses A. C is not shorter than B, so it waits.
		name: "sjf, pause: the whole length counts", cores: 1,
		policy: Policy{Order: SJF, Preemption: PausePreemption},
		jobs:   []Job{at(0, 1, 4), at(2, 1, 3), at(3, 1, 3)},
		want: `
		A |11......11|
		B |  111|
		C |   ..111|
		`,
	},
	{
		// At 2, A has 2 s left. B with 3 s waits for A; C with 1 s pauses A.
		name: "srtf: what is left counts", cores: 1,
		policy: Policy{Order: "srtf"},
		jobs:   []Job{at(0, 1, 4), at(2, 1, 3), at(2, 1, 1)},
		want: `
		A |11.11|
		B |  ...111|
		C |  1|
		`,
	},
	{
		name: "srtf, always attend", cores: 2,
		policy: Policy{Order: "srtf", Allocation: AlwaysAttend},
		jobs:   []Job{at(0, 2, 4), at(1, 1, 1), at(1, 2, 1)},
		want: `
		A |2..222|
		B | 1|
		C | 11|
		`,
	},
	{
		// B shares the cores with A, which is malleable. No job is paused.
		name: "srtf, max prop", cores: 2,
		policy: Policy{Order: "srtf", Allocation: MaxProp},
		jobs:   []Job{malleable(at(0, 2, 4)), malleable(at(1, 1, 1))},
		want: `
		A |21222|
		B | 1|
		`,
	},
	{
		// A has received 2 s of service when B arrives. B runs until it has received more than A.
		name: "las: who has had least", cores: 1,
		policy: Policy{Order: "las", Settings: Settings{"quantum": time.Second}},
		jobs:   []Job{at(0, 1, 4), at(2, 1, 4)},
		want: `
		A |11...11|
		B |  111..1|
		`,
	},
	{
		// C has received no service. A and B have received the same, so the one with the higher number is paused. At 2
		// the turn of A is over, and B has received less.
		name: "las, always attend", cores: 2,
		policy: Policy{Order: "las", Settings: Settings{"quantum": 2 * time.Second}, Allocation: AlwaysAttend},
		jobs:   []Job{at(0, 1, 3), at(0, 1, 3), at(1, 1, 2)},
		want: `
		A |11.1|
		B |1.11|
		C | 11|
		`,
	},
	{
		name: "las, max prop", cores: 2,
		policy: Policy{Order: "las", Settings: Settings{"quantum": 2 * time.Second}, Allocation: MaxProp},
		jobs:   []Job{malleable(at(0, 2, 3)), malleable(at(1, 2, 1))},
		want: `
		A |2112|
		B | 11|
		`,
	},
	{
		name: "edf: the earliest deadline next", cores: 1,
		policy: Policy{Order: "edf"},
		jobs:   []Job{due(9, at(0, 1, 3)), due(8, at(1, 1, 2)), due(5, at(2, 1, 1))},
		want: `
		A |111|
		B | ...11|
		C |  .1|
		`,
	},
	{
		name: "edf, pause", cores: 1,
		policy: Policy{Order: "edf", Preemption: PausePreemption},
		jobs:   []Job{due(9, at(0, 1, 3)), due(8, at(1, 1, 2)), due(5, at(2, 1, 1))},
		want: `
		A |1...11|
		B | 1.1|
		C |  1|
		`,
	},
	{
		name: "edf, always attend, pause", cores: 2,
		policy: Policy{Order: "edf", Allocation: AlwaysAttend, Preemption: PausePreemption},
		jobs:   []Job{due(9, at(0, 2, 3)), due(5, at(1, 1, 2))},
		want: `
		A |2..22|
		B | 11|
		`,
	},
	{
		// A is rigid and holds all cores, so it is paused. It resumes when both cores are free.
		name: "edf, max prop, pause", cores: 2,
		policy: Policy{Order: "edf", Allocation: MaxProp, Preemption: PausePreemption},
		jobs:   []Job{due(9, at(0, 2, 2)), due(5, at(1, 1, 2))},
		want: `
		A |2..2|
		B | 11|
		`,
	},
	{
		// Ann has two jobs and Bob has one. Each user gets half of the time.
		name: "fair: users, not jobs, share alike", cores: 1,
		policy: Policy{Order: "fair", Settings: Settings{"quantum": time.Second}},
		jobs:   []Job{of("ann", at(0, 1, 2)), of("ann", at(0, 1, 2)), of("bob", at(0, 1, 4))},
		want: `
		A |1...1|
		B |..1...1|
		C |.1.1.1.1|
		`,
	},
	{
		// B starts with the service that A had at the last check, 2 s, and not with 0.
		name: "fair: a newcomer does not catch up", cores: 1,
		policy: Policy{Order: "fair", Settings: Settings{"quantum": time.Second}},
		jobs:   []Job{at(0, 1, 6), at(3, 1, 3)},
		want: `
		A |111..1.11|
		B |   11.1|
		`,
	},
	{
		name: "fair, always attend", cores: 2,
		policy: Policy{Order: "fair", Settings: Settings{"quantum": 2 * time.Second}, Allocation: AlwaysAttend},
		jobs:   []Job{at(0, 2, 3), at(1, 1, 2)},
		want: `
		A |22..2|
		B | .11|
		`,
	},
	{
		name: "fair, max prop", cores: 2,
		policy: Policy{Order: "fair", Settings: Settings{"quantum": 2 * time.Second}, Allocation: MaxProp},
		jobs:   []Job{malleable(at(0, 2, 3)), malleable(at(1, 2, 2))},
		want: `
		A |21111|
		B | 1111|
		`,
	},
	{
		// A gives up two cores at 1. At 2 it requests 4 again, but B holds two of them until 3.
		name: "resize request: a malleable job shrinks at once and grows when it can", cores: 4,
		policy:  Policy{},
		jobs:    []Job{malleable(at(0, 4, 4)), at(1, 2, 2)},
		resizes: []Resize{{At: 1 * time.Second, Job: 0, Threads: 2}, {At: 2 * time.Second, Job: 0, Threads: 4}},
		want: `
		A |42244|
		B | 22|
		`,
	},
	{
		name: "resize request: a queued job uses it when it starts", cores: 4,
		policy:  Policy{},
		jobs:    []Job{at(0, 4, 2), at(1, 4, 1)},
		resizes: []Resize{{At: 1 * time.Second, Job: 1, Threads: 2}},
		want: `
		A |44|
		B | .22|
		`,
	},
	{
		// B needs two cores on each of two nodes, but A holds one of node 0. So B waits.
		name: "a gang starts whole, on as many nodes", cores: 0,
		policy:  Policy{},
		jobs:    []Job{at(0, 1, 2), gang(2, at(1, 4, 2))},
		cluster: &Cluster{Nodes: []Node{{Threads: 2}, {Threads: 2}}},
		want: `
		A |11|
		B | .44|
		`,
	},
	{
		// C has a higher priority than A, but there is no memory for it until A has ended. So A continues.
		name: "a paused job keeps its memory", cores: 2,
		policy:  Policy{Order: Priority, Preemption: PausePreemption},
		jobs:    []Job{memory(6, level(2, at(0, 2, 3))), level(0, at(1, 2, 1)), memory(6, level(1, at(1, 2, 1)))},
		cluster: &Cluster{Nodes: []Node{{Threads: 2, Memory: 10}}},
		want: `
		A |2.22|
		B | 2|
		C | ...2|
		`,
	},
	{
		// There are two GPUs. C waits for one; D does not need one.
		name: "GPUs are given in full", cores: 4,
		policy:  Policy{Backfill: FirstFit},
		jobs:    []Job{gpus(1, at(0, 1, 3)), gpus(1, at(0, 1, 2)), gpus(1, at(1, 1, 1)), at(1, 1, 1)},
		cluster: &Cluster{Nodes: []Node{{Threads: 4, GPUs: 2}}},
		want: `
		A |111|
		B |11|
		C | .1|
		D | 1|
		`,
	},
	{
		// At 5, C has 12 s left and A has 15 s, so C takes A's node. A resumes on B's former node.
		name:    "a paused job goes on on another node",
		policy:  Policy{Order: "srtf", Backfill: FirstFit},
		jobs:    []Job{gpus(1, at(0, 1, 20)), gpus(1, at(0, 1, 10)), gpus(1, at(5, 1, 12))},
		cluster: &Cluster{Nodes: []Node{{Threads: 1, GPUs: 1}, {Threads: 1, GPUs: 1}}},
		want: `
		A |11111.....111111111111111|
		B |1111111111|
		C |     111111111111|
		`,
	},
	{
		// A resumes on node 1 at 2, with its memory. At 3 D's 6 bytes fit on A's former node.
		name:   "a job takes its memory along",
		policy: Policy{Order: Priority, Preemption: PausePreemption, Backfill: FirstFit},
		jobs: []Job{
			memory(6, level(2, at(0, 1, 4))), level(1, at(0, 1, 2)), level(0, at(1, 1, 2)), memory(6, level(1, at(3, 1, 2))),
		},
		cluster: &Cluster{Nodes: []Node{{Threads: 1, Memory: 10}, {Threads: 1, Memory: 10}}},
		want: `
		A |1.111|
		B |11|
		C | 11|
		D |   11|
		`,
	},
	{
		// B and C are on node 0, A is on node 1. When B ends, A moves to node 0, so node 1 is free for D.
		name:    "jobs that are placed anew move together",
		policy:  Policy{Order: "srtf", Settings: Settings{"replan": true}},
		jobs:    []Job{at(0, 1, 10), at(0, 1, 3), at(0, 1, 9), at(4, 2, 8)},
		cluster: &Cluster{Nodes: []Node{{Threads: 2}, {Threads: 2}}},
		want: `
		A |1111111111|
		B |111|
		C |111111111|
		D |    22222222|
		`,
	},
	{
		// At 2 the order is C, B, A. A is paused, because it does not fit next to C and B.
		name: "all jobs are placed anew in the order", cores: 4,
		policy: Policy{Order: "srtf", Settings: Settings{"replan": true}},
		jobs:   []Job{at(0, 2, 6), at(0, 2, 5), at(2, 2, 2)},
		want: `
		A |22..2222|
		B |22222|
		C |  22|
		`,
	},
	{
		// At 1 A has 8 core-seconds left: 4 s on 2 cores. B has 6 on one core, so it goes first. C has 9, and fits
		// beside B. At 7 C has 3 left.
		name: "SRSF counts the cores", cores: 2,
		policy: Policy{Order: "srsf", Backfill: FirstFit},
		jobs:   []Job{at(0, 2, 5), at(1, 1, 6), at(1, 1, 9)},
		want: `
		A |2.........2222|
		B | 111111|
		C | 111111111|
		`,
	},
	{
		// Half of the jobs take 2 s and half take 10 s. For a new job, one end within 2 s costs 4 s of work on average.
		// After 1 s it costs 2 s. After 2 s the job surely has 8 s left.
		name: "the Gittins index", cores: 1,
		policy: Policy{Order: "gittins", Settings: Settings{"quantum": time.Second}},
		jobs:   []Job{at(0, 1, 10), at(1, 1, 2)},
		want: `
		A |11..11111111|
		B | .11|
		`,
	},
	{
		// From A. Silberschatz, P. B. Galvin, G. Gagne, "Operating System Concepts": a queue with a quantum of 1 s, one
		// of 2 s, and one that is first come, first served. At 2 A has used half of its 2 s. It resumes at 4, before B.
		// B runs from 5 to 7.
		name: "multi-level feedback queues", cores: 1,
		policy: Policy{Order: "mlfq", Settings: Settings{"quanta": []string{"1s", "2s"}}},
		jobs:   []Job{at(0, 1, 6), at(2, 1, 4), at(3, 1, 1)},
		want: `
		A |11..1..111|
		B |  1..11...1|
		C |   1|
		`,
	},
	{
		// A and B alternate in turns of 2 s. C pauses B, which then begins another turn. D waits for all others.
		name: "turns within a level", cores: 1,
		policy: Policy{Order: PriorityTurns, Preemption: PausePreemption, Settings: Settings{"quantum": 2 * time.Second}},
		jobs:   []Job{level(1, at(0, 1, 4)), level(1, at(0, 1, 3)), level(0, at(3, 1, 2)), level(2, at(0, 1, 1))},
		want: `
		A |11.....11|
		B |..1..11|
		C |   11|
		D |.........1|
		`,
	},
	{
		// D needs all cores and is promised a start at 10; E is promised 6. At 5 A ends early. E moves first, to 5, and
		// then D to 9.
		name: "conservative backfill keeps its promises", cores: 4,
		policy: Policy{Backfill: "conservative"},
		jobs: []Job{
			at(0, 2, 10), at(0, 1, 6), at(0, 1, 4), at(1, 4, 5), at(2, 2, 4),
		},
		runs: map[int]time.Duration{0: 5 * time.Second},
		want: `
		A |22222|
		B |111111|
		C |1111|
		D | ........44444|
		E |  ...2222|
		`,
	},
	{
		// At 9 B ends early, at the same time as D arrives. C, which was promised 15, moves to 9 first. D gets the
		// rest.
		name: "conservative backfill moves promises before newcomers", cores: 3,
		policy: Policy{Backfill: "conservative"},
		jobs:   []Job{at(1, 1, 11), at(4, 3, 9), at(8, 3, 9), at(9, 3, 6)},
		runs:   map[int]time.Duration{0: 5 * time.Second, 1: 3 * time.Second},
		want: `
		A | 11111|
		B |    ..333|
		C |        .333333333|
		D |         .........333333|
		`,
	},
	{
		// C pauses B, because B has more left than A, although A has run longer.
		name: "the worst gives way", cores: 2,
		policy: Policy{Order: "srtf", Victims: Worst},
		jobs:   []Job{at(0, 1, 5), at(1, 1, 9), at(2, 1, 1)},
		want: `
		A |11111|
		B | 1.11111111|
		C |  1|
		`,
	},
	{
		name: "a job of no time", cores: 1,
		policy: Policy{},
		jobs:   []Job{at(0, 1, 0), at(0, 1, 2), at(1, 1, 0), at(2, 1, 1)},
		want: `
		A ||
		B |11|
		C | .|
		D |  1|
		`,
	},
}
