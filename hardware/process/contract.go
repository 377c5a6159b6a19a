package process

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler"
)

// The parts of the job contract that do not depend on how a program is run,
// for engines that run it elsewhere.

// Arguments returns the job's program and arguments under a grant: Argv, with
// the hardware flags if the job asks for them.
func (j *Job) Arguments(grant scheduler.Grant) []string { return j.arguments(grant) }

// Contract returns the variables of the job contract under a grant, and then
// the job's own, as "k=v". control and checkpoint are the paths of the control
// file and of the checkpoint folder as the program sees them; empty: none.
// gpus is how the program is told of its GPUs.
func (j *Job) Contract(grant scheduler.Grant, gpus []string, control, checkpoint string) []string {
	there := *j
	there.ControlPath, there.CheckpointDir = control, checkpoint
	env := there.environ(nil, grant.Cores.Count(), gpus, "")
	// The mark by which processes of this machine are found means nothing there.
	return slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, runEnv+"=") })
}

// Allotment returns the content of the control file of a job that has n
// cores: "inter intra".
func (j *Job) Allotment(n int) (inter, intra int) { return j.Split(n) }

// WriteControl tells the job in its control file, if it has one, that it has
// n cores now. The file is replaced as a whole.
func (j *Job) WriteControl(n int) error { return j.writeControl(n) }

// BindTree binds all threads of a process and of its descendants to CPUs, by
// the system's numbers. Threads that have ended are no error; where processes
// are not bound to CPUs nothing is done.
func BindTree(root int, cpus []int) error {
	seen := map[int]bool{}
	for range maxPasses {
		found, err := bindThreads(tree(root, processes()), cpus, seen)
		if err != nil || !found {
			return err
		}
	}
	return nil
}

// tree lists a process with its descendants.
func tree(root int, all []proc) []int {
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		for _, p := range all {
			if p.parent == pids[i] && !slices.Contains(pids, p.pid) {
				pids = append(pids, p.pid)
			}
		}
	}
	return pids
}
