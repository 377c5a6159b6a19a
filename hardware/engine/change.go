package engine

import (
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
)

// Changer is an engine whose programs can be changed while a cell runs, by the controllers beside its jobs.
type Changer interface {
	// Attend asks for a notice of every report (scheduler.Notice.Progress) of the jobs for which it is true. It is called
	// before the first job starts.
	Attend(jobs []bool)
	// Change makes to the program of a job from its next start on, with the files and the standing message of the one
	// before.
	Change(job int, to launch.Job) error
	// Tell makes a message that of a job's control file: at once for a job that runs, and for every later start. It
	// says how things stand, and holds the last request; the engine numbers a request without a serial.
	Tell(job int, m contract.Message) error
	// Restart asks a running job to save its work and to end, to be started again: scheduler.JobEnded follows, with the
	// state Stopped.
	Restart(job int) error
}
