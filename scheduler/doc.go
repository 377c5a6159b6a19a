// Package scheduler decides which jobs run, when, and on which cores and GPUs. It is deterministic, and has no clock
// of its own. Run.Execute is the one event loop. An Engine carries its decisions out, on a virtual or a real clock,
// and reports events. A policy ranks the jobs and chooses which of them start. The package imports no engine and no
// policy; policies are in package policy.
//
// # Instants
//
// Times are integer nanoseconds. The events of an instant are handled in the order finish, arrival, request, timer,
// and by job number in each of these. Dispatch follows. Engine.Next returns the present instant, at which decisions
// are recorded. On a real clock it is later than the events that it returns, which keep their own instants.
//
// The steps of an instant are in loop.instant: wait, handle events, update predictions, dispatch, check for
// progress.
//
// # Extensions
//
// An extension does what only some runs need: servers that come and go, rounds, controllers, samples, further
// instants of a policy. It is called at a few points of an instant. A run without extensions spends no time on them.
//
// # Dispatch
//
// Dispatch repeats these steps until nothing changes:
//
//  1. Running jobs whose request has changed are resized. First those with a
//     smaller request shrink. Then the others grow, in the order of their requests.
//  2. The policy starts waiting jobs, pauses running jobs to make room, or resizes
//     running jobs. Queued and paused jobs wait in one queue, in the policy's order.
//  3. Running malleable jobs below their request get the cores that are still
//     free, the earliest started first.
//
// # Policies
//
// A Ranker orders jobs. An Admitter decides which waiting jobs start. Both see a View of jobs, queue and machine; an
// Admitter acts through Actions. Other fields of PolicyRules make the scheduler track more for a policy:
//
//   - Quantum: dispatch follows when a running job's quantum is over. A quantum
//     begins at each start or resume. With RequeueAfterQuantum the job goes back into
//     the queue if others wait. If dispatch gives it the same cores again, it continues
//     with a new quantum, and this is not a preemption.
//   - Victims: for a job that cannot start, running jobs that rank strictly worse can
//     be paused. (A job that differs only in tie-breaks is not worse.) They are paused
//     in the order of the victim rule, then the higher number first: as many as
//     needed, and none if all would not be enough.
//   - Feedback: the effective level of a waiting job improves by one for each
//     interval that it has waited since it last ran, at best to 0. The job keeps
//     this level while it runs, and returns to its own level when it is paused.
//   - Ends: the expected ends of running jobs, for reservations. A job that runs
//     longer than predicted is expected to end at any moment.
//
// A rigid job keeps the number of cores of its first start. A job on several nodes gets its whole request, and is
// never resized. A job gets the lowest free cores and GPUs of the node with the lowest number that has room. A
// resumed job gets its former cores if they are free, else others of its nodes. Otherwise it migrates, if the engine
// is a Migrator: it resumes on other nodes. Until it resumes, it keeps its memory on its former nodes. A waiting job
// that lacks only memory of paused jobs does not keep jobs behind it from starting.
//
// A prediction of zero means no prediction, and ranks as the longest. Run.ProgressModel predicts the remaining time
// of a job on its present resources. By default the speed of a job is proportional to its cores. A job that is
// restarted after a failure has all of its work before it.
//
// # Rounds
//
// A policy of rounds (PolicyRules.Round) decides only at the start of each round, for all jobs: which keep their
// devices, which are paused, and which start or resume, possibly with another alternative. A round also ends when no
// job runs any more; the next one begins when a job waits. Resources that become free in a round stay free to its
// end, unless PolicyRules.ConsultOnRelease is set.
//
// # Alternatives
//
// A job may have alternatives. Each has a request, a type of GPU, and a predicted run time. The policy chooses one
// at the start. It can choose another one when the job resumes after a pause, if the engine can change it; the
// finished fraction of the job stays the same, and this counts as a migration. When a job is restarted after a
// failure, the policy chooses again. Such a job is rigid, and gets its whole request. Alternatives for which the
// cluster has no room are ignored. Orders rank a waiting job by its shortest prediction.
//
// # Online predictions
//
// With Run.Online, the prediction of a running job changes with the units of work that it finishes. The engine
// reports the first unit, and then each doubling of the number, as separate instants. The Predictor gets the
// finished units and the cores that the job held, and returns the remaining time. Dispatch follows. Only jobs that
// have reported get new places in the queue and among expected ends. Between two reports the ProgressModel counts
// progress. A simulated job reports at the exact instant. A real job reports when its line of output has been read.
package scheduler
