// Package scheduler is the decision core: which job runs, when, on which
// cores. It is pure and deterministic: events in, decisions out. It knows no
// engine and no policy: Run.Execute, the one event loop, is fed by whatever
// implements Engine, on a virtual or a real clock, and asks the rules of the run's
// policy. The policies are in package policy.
//
// # Instants
//
// Time is integer nanoseconds. The events of an instant are handled in the
// order finish, arrival, request, timer, by job number within each; then
// dispatch decides. Engine.Next returns the present instant, and decisions are
// recorded at it. On a real clock it is later than the events that it returns,
// which keep their own instants.
//
// The steps of an instant are in loop.instant: wait, take events, update predictions, decide and carry out,
// check for progress.
//
// # Extensions
//
// What only some runs need is an extension: servers that come and go, rounds, controllers, samples, instants of a policy.
// It acts at a few points of an instant, and a run without extensions pays nothing for them.
//
// # Dispatch
//
// Dispatch runs until nothing changes:
//
//  1. Running jobs whose request was changed are resized: those that asked for
//     less shrink, then the others grow, in the order of their requests.
//  2. The policy admits waiting jobs (queued or paused, one queue in its order):
//     it has the scheduler start them, make room for them by pausing others, or
//     resize running jobs.
//  3. Cores that are still free go to running malleable jobs below their
//     request, the earliest (first) started first.
//
// # Questions to a policy
//
// A Ranker orders jobs, an Admitter decides which of the waiting ones start. Both
// see a View of jobs, queue and machine; an Admitter acts through Actions. The
// other fields of PolicyRules say what else the scheduler tracks for them:
//
//   - Quantum: at the end of a running job's quantum there is a dispatch. A
//     quantum runs from each start or resume. With RequeueAfterQuantum the job goes back to the
//     queue if others wait; if dispatch gives it the same cores, it continues with a
//     new quantum, and nothing counts as a preemption.
//   - Victims: a job that cannot start may pause running jobs that are strictly
//     worse in the order (what only breaks ties does not make a job worse): in the
//     order of the victim rule, then the higher number; as many as needed, and none
//     if all would not make room.
//   - Feedback: a waiting job's effective level improves by one for each full
//     interval that it has waited since it last ran, to 0 at best. It keeps that
//     level while it runs and returns to its own when it is paused.
//   - Ends: the expected ends of running jobs, for reservations. A running job that
//     outlives its prediction is taken to end at any moment.
//
// A rigid job keeps the number of cores of its first start. Gangs start whole and are
// never resized. Cores and GPUs are the lowest free ones of the node with the lowest
// number that has room; a resumed job gets its old ones back if they are free, else
// others of its nodes, else it migrates: it resumes on other nodes, if the engine can do
// that (Migrator). A paused job keeps its memory until then. A waiting job that lacks
// only memory kept by paused jobs does not hold up the jobs behind it.
//
// A prediction of zero means no prediction, and ranks as longer than all others.
// Run.ProgressModel predicts the remaining time of a job with its present resources. By
// default jobs progress in proportion to their cores. A job that is restarted after
// a failure has all of its work before it.
//
// # Rounds
//
// A policy of rounds (PolicyRules.Round) is asked at the start of each round only, and decides for all
// jobs: which jobs keep their devices, which are paused, and which start or resume, possibly with
// another alternative. A round ends when nothing runs any more, and the next one begins when a job
// waits. Resources freed within a round stay free to its end, unless PolicyRules.ConsultOnRelease is set.
//
// # Alternatives
//
// A job may have alternatives: each with a request, the type of GPU that its nodes must have, and a predicted run time.
// It gets one at its start, and another one when it resumes after a pause, if the policy says so and the engine can do
// it. That is a migration: the finished fraction of the job stays the same. When it is restarted after a failure, it
// chooses again. Such a job is rigid, and gets whole requests. Alternatives for which the cluster has no room even when
// nothing runs are left out. While it waits, orders take the shortest of its predictions.
//
// # Online predictions
//
// With Run.Online, a job's prediction follows the units of its work that it
// finishes. The engine reports the first unit, and then each doubling, at a
// separate instant. The predictor receives the finished units, the numbers of
// cores and the times on them, and returns the remaining time. Dispatch follows.
// Only the jobs that have reported get new places in the queue and among expected
// ends. Between two reports the outlook counts the progress. A simulated job
// reports at the exact instant; a real one when its line has been read, with what
// it has reported by then.
package scheduler
