// Package scheduler is the decision core: which job runs, when, on which
// cores. It is pure and deterministic: events in, decisions out. It knows no
// engine; Run.Execute, the one event loop, feeds it from whatever implements
// Engine, on a virtual or a real clock.
//
// # Instants
//
// Time is integer nanoseconds. The events of an instant are taken in the order
// finish, arrival, request, timer, by job number within each; then dispatch
// decides. Engine.Next says what the present instant is, and decisions are
// recorded at it. On a real clock it is later than the events that it brings,
// which keep their own instants.
//
// # Dispatch
//
// Dispatch runs until nothing changes:
//
//  1. Running jobs whose request was changed are resized: those that asked for
//     less shrink, then the others grow, in the order of their requests.
//  2. Waiting jobs (queued or paused, one queue) are looked at in the policy's
//     order. The allocation rule says how many cores a job would get: it
//     starts, or makes room by preemption and starts, or is passed over. With
//     no backfill the first that can not start ends the pass.
//  3. Cores that are still free go to running malleable jobs below their
//     request, the earliest (first) started first.
//
// # Orders
//
//   - fcfs: arrival. priority: effective level. sjf: predicted run time. edf:
//     deadline. Ties: arrival, then number. None takes anything from a running
//     job unless preemption is on.
//
//   - srtf: predicted remaining time; las: least attained service (core time).
//     Both imply preemption. Under las there is a dispatch at the end of each
//     quantum of a running job, as well as at every other event.
//
//   - round_robin: a queue; arrivals and jobs whose quantum ended go to its
//     tail. A quantum runs from each start or resume. When it ends and no job
//     waits, a new one begins. Otherwise the job goes to the tail, and dispatch
//     follows; if that gives it the same cores, it goes on with a new quantum,
//     and nothing counts as a preemption.
//
//   - fair: the same, but the queue is ordered by the attained service of the
//     job's user, then the job's own, then number. A job without a user is a
//     user of its own. A user who comes back, or is new, starts level with the
//     one that was served last.
//
//   - allox: see below.
//
// A prediction of zero is none, and longer than all others. How long a job goes on
// under what it holds, Run.Outlook says: unless another is given, jobs progress in
// proportion to their cores. A job that is restarted after a failure has all of its
// work before it.
//
// # Online predictions
//
// With Run.Online, a job's prediction follows the units of its work that it
// finishes. The engine reports the first unit, and then each doubling, as an
// instant of its own; the predictor is told how many units were finished and on
// how many cores, for how long, and says what is left; dispatch follows. Only
// the jobs that have reported get new places in the queue and among expected
// ends. Between two reports the outlook counts the progress. A simulated job
// reports at the exact instant; a real one when its line has been read, with what
// it has reported by then.
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
// A rigid job keeps the number of cores of its first start. Gangs start whole
// and are never resized. Cores and GPUs are the lowest free ones of the node
// with the lowest number that has room; a resumed job gets its old ones back
// if they are free, and in any case stays on its nodes. A paused job keeps its
// memory. A waiting job that lacks only what paused jobs keep does not hold up
// those behind it.
//
// # Backfill
//
// A job that can not start lets later ones pass: under first_fit any that
// fits; under easy those that, by the predictions, end before the first
// blocked job's reservation or leave it enough beside them; under conservative
// those that delay nobody before them. Reservations are made anew at each
// dispatch. A running job that outlives its prediction is taken to end at any
// moment. Nobody behind a reservation pauses anybody. Under max_prop both easy
// and conservative guard the reservation of the first job without a share.
//
// # Alternatives
//
// A job may have alternatives: ways to run, each with a request, the type of
// GPU that its nodes must have, and a predicted run time. It is given one at
// its start and keeps it; when it begins anew after a failure, it chooses
// again. Such a job is rigid, and wants the allocation strict. Ways for which
// the cluster has no room even when nothing runs are left out. While it waits,
// the orders take the shortest of its predictions.
//
//   - first: it starts in the first of its ways for which there is room, in the
//     order in which it names them. What else there is to a policy, it does
//     for each way in turn: backfill, and making room by preemption. Its
//     reservation is that of the way with the earliest start, ties to the
//     earlier way.
//   - earliest_finish: at each dispatch all waiting jobs are planned in the
//     policy's order, as under conservative backfill, which this implies. Each
//     takes, beside the running jobs and those planned before it, the way with
//     the earliest predicted finish, ties to the earlier way; it starts if that
//     begins at once, and else waits for it, even if another way has room. The
//     plan is made anew at each dispatch, so it may start in another way than
//     it waited for.
//
// # AlloX
//
// The order allox (T. N. Le, X. Sun, M. Chowdhury, Z. Liu, EuroSys 2020) matches
// the waiting jobs to positions on machines, counted from the end, such that
// the predicted finishes add up to the least: a job in position k on a machine
// adds k times its run time there, and the time after which the machine is
// free. The jobs that the matching puts first on machines that are free start,
// longest-waiting first among those of one position; the first of them that
// has no room yet ends this for its kind of machine, so that it will have it.
// It is done again until nobody starts, and anew at each dispatch. Nothing is
// paused.
//
// GPUs of each type that alternatives ask for are a kind of machine, and so are
// cores for jobs that ask for no GPU. A kind has one machine for each running
// job that asked for it, free when that is predicted to end, and one, free now,
// for each request of the mean size (of the waiting jobs, in their ways on that
// kind) that fits beside them; of several ways on one kind a job is matched
// with the fastest.
//
// With alpha below 1 only the jobs of ⌈alpha × n⌉ of the n users with waiting
// jobs take part, those with the least progress, ties to the user whose job
// has the lower number; when the matching starts none of their jobs, twice as
// many users take part, until all do. A user's progress is the time in which
// the user's jobs ran, each weighted by its part of the cluster's cores or
// GPUs, the greater of the two. A job without a user is a user of its own; who
// comes back, or is new, is taken to have what the user had that was served
// last, if that is more.
//
// # Preemption
//
// With pause, a job that can not start may pause running jobs that are
// strictly worse by what the policy orders by first (what only breaks ties
// does not make a job worse): by victim rule, the other rule, then the
// higher number; as many as needed, and none if all would not make room. Where
// jobs take turns (round_robin, fair) only the end of a quantum does this.
//
// # Feedback
//
// Under priority a waiting job's effective level improves by one for each full
// interval that it has waited since it last ran, to 0 at best. It keeps that
// level while it runs and returns to its own when it is paused.
package scheduler
