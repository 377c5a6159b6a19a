package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/following"
	"github.com/tfexp/tfexp/scheduler/job"
	"github.com/tfexp/tfexp/scheduler/outlook"
	"github.com/tfexp/tfexp/scheduler/trace"
)

// Never is an instant later than every other.
const Never = trace.Never

// The types of package cluster (capacity, requests, grants)
// under the names that engines and policies use.
type (
	Cluster = cluster.Cluster
	Node    = cluster.Node
	Supply  = cluster.Supply
	Demand  = cluster.Demand
	Room    = cluster.Room
	Grant   = cluster.Grant
	Layout  = cluster.Layout
	Part    = cluster.Part
	CoreSet = cluster.CoreSet
	Span    = cluster.Span
	// MachineView is the machine as policies see it.
	MachineView = cluster.View
	Share       = cluster.Share
	Beside      = cluster.Beside
)

// What is to be run: the types of package job.
type (
	Job         = job.Job
	Special     = job.Special
	Role        = job.Role
	Resize      = job.Resize
	Alternative = job.Alternative
)

// What predictions of run times are made with: the types of package outlook.
type (
	Allotment    = outlook.Allotment
	Outlook      = outlook.Outlook
	Training     = outlook.Training
	Trainer      = outlook.Trainer
	Proportional = outlook.Proportional
)

// CoreTime returns d times cores, and stops at the greatest duration.
func CoreTime(d time.Duration, cores int) time.Duration { return outlook.CoreTime(d, cores) }

// Plus returns a sum that stops at the greatest duration.
func Plus(a, b time.Duration) time.Duration { return outlook.Plus(a, b) }

// What predictions that follow the jobs are made with: the types of package following.
type (
	Online    = following.Online
	Predictor = following.Predictor
	Held      = following.Held
)

// The supplies of nodes.
const (
	Standing, Fixed, OnRequest = cluster.Standing, cluster.Fixed, cluster.OnRequest
)

// What an engine is, and what it can do.
type (
	Engine       = trace.Engine
	Capabilities = trace.Capabilities
	Watcher      = trace.Watcher
	Provider     = trace.Provider
	Reshaper     = trace.Reshaper
	Mover        = trace.Mover
	Teller       = trace.Teller
	Foreteller   = trace.Foreteller
	Migrator     = trace.Migrator
	Switcher     = trace.Switcher
	Sampler      = trace.Sampler
)

// The types of package trace (events, decisions, states of jobs, notices of engines)
// under the names that engines and policies use.
type (
	State      = trace.State
	EventKind  = trace.EventKind
	Event      = trace.Event
	Levels     = trace.Levels
	Prediction = trace.Prediction
	Decision   = trace.Decision
	Passed     = trace.Passed
	Lack       = trace.Lack
	Recorder   = trace.Recorder
	Notice     = trace.Notice
	NoticeKind = trace.NoticeKind
	Loss       = trace.Loss
	Server     = trace.Server
	Attempt    = trace.Attempt
	Outcome    = trace.Outcome
	Result     = trace.Result
	Controller = trace.Controller
	Report     = trace.Report
	Action     = trace.Action
	Setting    = trace.Setting
)

// MaxPassed bounds the list of passed-over jobs in one decision.
const MaxPassed = trace.MaxPassed

// The states of a job. The last three are final.
const (
	Pending, Queued, Running, Paused = trace.Pending, trace.Queued, trace.Running, trace.Paused
	Finished, Failed, Stopped        = trace.Finished, trace.Failed, trace.Stopped
)

// The kinds of events of jobs, and of nodes that come and go.
const (
	Arrive, Start, Pause, Resume, ResizeJob = trace.Arrive, trace.Start, trace.Pause, trace.Resume, trace.ResizeJob
	Request, Level, Predict                 = trace.Request, trace.Level, trace.Predict
	Finish, Fail, Stop, Retry, Revoke       = trace.Finish, trace.Fail, trace.Stop, trace.Retry, trace.Revoke
	Move, Profiled                          = trace.Move, trace.Profiled
	Decided, Reconfigure                    = trace.Decided, trace.Reconfigure
	NodeRequest, NodeStart                  = trace.NodeRequest, trace.NodeStart
	NodeWarning, NodeEnd                    = trace.NodeWarning, trace.NodeEnd
)

// The kinds of notices of engines.
const (
	JobEnded, PartEnded, JobProgress = trace.JobEnded, trace.PartEnded, trace.JobProgress
	NodeUp, NodeWarned, NodeDown     = trace.NodeUp, trace.NodeWarned, trace.NodeDown
)

// CompareNotices orders notices by instant, then kind, then job and node.
func CompareNotices(a, b Notice) int { return trace.CompareNotices(a, b) }
