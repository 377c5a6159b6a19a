//go:build unix

package process

import "slices"

// BindTree binds all threads of a process and of its descendants to CPUs, by the numbers of the operating system. It
// ignores threads that have ended. On systems that cannot bind processes, it does nothing.
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

// processTree returns a process and its descendants.
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
