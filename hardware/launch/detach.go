package launch

import "fmt"

// detachedCode is the code of warnings of programs that end before the programs that they have started.
const detachedCode = "detached"

// endRemark describes the work that a finished job may have left undone; nil where no feature knows.
var endRemark func(j *Job) string

// RegisterEndRemark has a feature look at the jobs that have done their work. Its result, unless empty, is a warning.
func RegisterEndRemark(remark func(j *Job) string) { endRemark = remark }

// detachedWork describes the work of a job that continued when its program had ended; empty for none. left counts the
// processes that were ended.
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
