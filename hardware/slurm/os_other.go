//go:build unix && !linux

package slurm

import "syscall"

// dieWithParent gives a command a separate process group. This system cannot signal the command when tfexp ends, but
// the end of its input ends an allocation.
func dieWithParent(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
