package slurm

import "syscall"

// dieWithParent has the kernel ask a command to end when the thread that started it is gone. The command is a separate
// process group: a Ctrl-C at the terminal is for tfexp alone.
func dieWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: signal}
}
