//go:build unix

package process

import "slices"

// BindTree binds all threads of a process and of its descendants to CPUs, by
// the system's numbers. Threads that have ended are no error; where processes
// are not bound to CPUs nothing is done.
func BindTree(root int, cpus []int) error {
	seen := map[int]bool{}
	for range maxPasses {
		found, err := bindThreads(processTree(root, processes()), cpus, seen)
		if err != nil || !found {
			return err
		}
	}
	return nil
}

// processTree lists a process with its descendants.
func processTree(root int, all []processInfo) []int {
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
