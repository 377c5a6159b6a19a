package launch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Arguments returns the job's program and arguments under a grant: Argv, with the hardware flags if the job asks for
// them.
func (j *Job) Arguments(grant scheduler.Grant) []string {
	switch gpus := grant.GPUs.Count(); {
	case !j.Flags:
		return j.Argv
	case gpus > 0:
		return append(slices.Clone(j.Argv), "--gpu", "--numGPUs", strconv.Itoa(gpus))
	default:
		return append(slices.Clone(j.Argv), "--cpu", "--numThreads", strconv.Itoa(grant.Cores.Count()))
	}
}

// Paths are the control file and the checkpoint folder as the program sees them; empty for none.
type Paths struct{ Control, Checkpoint string }

// Environ returns the variables of the job contract for a job that is given n cores and these GPUs (as programs name
// them), and then the job's own, as "k=v".
func (j *Job) Environ(n int, gpus []string, paths Paths) []string {
	inter, intra := j.Pools(n)
	given := []string{
		contract.EnvJob + "=" + j.Name,
		contract.EnvInter + "=" + strconv.Itoa(inter),
		contract.EnvIntra + "=" + strconv.Itoa(intra),
		contract.EnvOMP + "=" + strconv.Itoa(intra),
		contract.EnvGPUs + "=" + strconv.Itoa(len(gpus)),
		// Empty hides all devices from a job that was given none.
		contract.EnvVisibleGPUs + "=" + strings.Join(gpus, ","),
	}
	if len(gpus) > 0 {
		// Indices are those of the bus; by default CUDA counts the fastest first.
		given = append(given, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
	}
	if j.Budget != nil {
		given = append(given, contract.EnvBudget+"="+strconv.FormatFloat(j.Budget.Seconds(), 'f', -1, 64))
	}
	if paths.Control != "" {
		given = append(given, contract.EnvControl+"="+paths.Control)
	}
	if paths.Checkpoint != "" {
		given = append(given, contract.EnvCheckpointDir+"="+paths.Checkpoint)
	}
	return Merge(given, j.Env)
}

// Inherited removes from an environment the variables that another tfexp, of which this one is itself a job, has set
// there and that this one may leave unset.
func Inherited(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(Reserved, name)
	})
}

// Reserved are the variables of the job contract that a program may not have from another tfexp.
var Reserved = []string{
	contract.EnvEpochs, contract.EnvSteps, contract.EnvControl, contract.EnvCheckpointDir, contract.EnvCheckpointEvery,
	contract.EnvBudget, contract.EnvTarget, contract.EnvRole, contract.EnvTask, contract.EnvCluster, EnvTF,
}

// Merge joins lists of "k=v" entries; of several for one name the last stays, at the place of the first.
func Merge(lists ...[]string) []string {
	var env []string
	at := map[string]int{}
	for _, entry := range slices.Concat(lists...) {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := at[name]; ok {
			env[i] = entry
			continue
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	return env
}
