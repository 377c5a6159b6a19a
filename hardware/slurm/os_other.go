//go:build unix && !linux

package slurm

import "syscall"

// dieWithParent starts a command as a separate process group. The end of its input ends an allocation.
func dieWithParent(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
