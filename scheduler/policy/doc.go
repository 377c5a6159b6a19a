// Package policy has the policies that the scheduler runs jobs by, and the registry
// in which each of them says what it is. A Policy is one choice for each of seven
// questions (order, backfill, allocation, preemption, victims, placement, provisioning),
// with the settings that its choices have of their own.
//
// A choice is one value in a file of its own, registered by an init function: its
// name, title and documentation, its settings, what it needs of the other choices,
// and the code that decides. The language, its checks and its reference, the keys of
// cells, summaries and sentences are made from the registry.
//
// # Orders
//
//   - fcfs: arrival. priority: effective level. sjf: predicted run time. edf:
//     deadline. Ties: arrival, then number. None takes anything from a running
//     job unless preemption is on.
//   - srtf: predicted remaining time; las: least attained service (core time).
//     Both imply preemption. Under las there is a dispatch at the end of each
//     quantum of a running job, as well as at every other event.
//   - round_robin: a queue; arrivals and jobs whose quantum has ended go to its tail.
//   - fair: the same, but the queue is ordered by the attained service of the
//     job's user, then the job's own, then number. A job without a user is a
//     user of its own. A user who comes back, or is new, starts level with the
//     one that was served last.
//   - allox: see below.
//
// # Allocation
//
//   - strict: the full request or nothing.
//   - always_attend: min(request, free), from MinThreads (at least 1) on; on a
//     cluster the first node that has the request, else the one with the most
//     free cores.
//   - max_prop: each node shares the cores that running rigid jobs do not hold
//     among its running malleable jobs, by first start, and then waiting jobs
//     in order, as many as can have their minimum; in proportion to their
//     requests, each between its minimum and its maximum, which is its request
//     unless MaxThreads is more. Fractions are rounded by largest remainder,
//     ties to the earlier. The shares are applied when a waiting job takes
//     part: first the running jobs above theirs shrink, then those below theirs
//     grow, then the waiting ones start. A waiting job joins the node with the
//     most cores beyond the minimums.
//
// # Backfill
//
// Under none, the first job that cannot start ends the pass. Otherwise it lets
// later ones pass: under first_fit any that fits; under easy those that, by the
// predictions, end before the first blocked job's reservation or leave it enough
// beside them; under conservative those that delay nobody before them. Under easy the
// reservation is made anew at each dispatch. Under conservative each job keeps the one that
// it is given when it begins to wait; when a job ends early, reservations are moved
// earlier, in the policy's order, each beside those of all others, until none can be. With
// pausing, turns, partial requests, alternatives or servers that come and go they are made
// anew in the order at each dispatch. Nobody behind a reservation pauses anybody. Under
// max_prop both easy and conservative guard the reservation of the first job without
// a share.
//
// # Placement
//
// The placement says with which of its alternatives a job starts.
//
//   - first: the first of its alternatives for which there is room, in the
//     order in which it names them. Backfill, and making room by preemption, are
//     tried for each alternative in turn. Its reservation is that of the alternative
//     with the earliest start, ties to the earlier one.
//   - earliest_finish: at each dispatch all waiting jobs are planned in the
//     policy's order, as under conservative backfill, which this implies. Each
//     takes, beside the running jobs and those planned before it, the alternative
//     with the earliest predicted finish, ties to the earlier one; it starts if that
//     begins at once, and else waits for it, even if another alternative has room.
//     The plan is made anew at each dispatch, so it may start with another
//     alternative than it waited for.
//
// # AlloX
//
// The order allox (T. N. Le, X. Sun, M. Chowdhury, Z. Liu, EuroSys 2020) matches
// the waiting jobs to positions on machines, counted from the end, such that
// the predicted finishes add up to the least: a job in position k on a machine
// adds k times its run time there, and the time after which the machine is
// free. The jobs that the matching puts first on machines that are free start,
// longest-waiting first among those of one position; the first of them that
// has no room yet ends this for its type of machine, so that it will have it.
// It is done again until nobody starts, and anew at each dispatch. Nothing is
// paused.
//
// GPUs of each type that alternatives ask for are a type of machine, and so are
// cores for jobs that ask for no GPU. A type has one machine for each running
// job that asked for it, free when that is predicted to end, and one, free now,
// for each request of the mean size (of the waiting jobs, with their alternatives
// on that type) that fits beside them; of several alternatives on one type a job is
// matched with the fastest.
//
// With alpha below 1 only the jobs of ⌈alpha × n⌉ of the n users with waiting
// jobs take part, those with the least progress, ties to the user whose job
// has the lower number; when the matching starts none of their jobs, twice as
// many users take part, until all do. A user's progress is the time in which
// the user's jobs ran, each weighted by its part of the cluster's cores or
// GPUs, the greater of the two. A job without a user is a user of its own; who
// comes back, or is new, is taken to have what the user had that was served
// last, if that is more.
package policy
