package launch

import "fmt"

// pausedCode is the code of warnings about programs that finish when they are paused.
const pausedCode = "finished_at_pause"

// detachedCode is the code of warnings about programs that end before programs which they have started.
const detachedCode = "detached"

// endRemark returns a remark about work that a finished job may have left undone; nil if no feature has registered
// one.
var endRemark func(j *Job) string

// RegisterEndRemark registers a function that is called for each job that has finished. If its result is not empty,
// it becomes a warning.
func RegisterEndRemark(remark func(j *Job) string) { endRemark = remark }

// detachedWork returns a warning about a job: left processes still ran after its program had ended. It is empty if
// there is no reason to warn.
func detachedWork(j *Job, left int) string {
	switch {
	case left > 0:
		return fmt.Sprintf("its program ended before what it had started (%d processes), which was ended with it: let it wait for that, "+
			"or start that in its place", left)
	case endRemark != nil:
		return endRemark(j)
	}
	return ""
}
