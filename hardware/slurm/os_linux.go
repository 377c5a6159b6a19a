package slurm

import "syscall"

// dieWithParent has the kernel send a signal to a command when the thread that started it ends. The command gets a
// separate process group, so that Ctrl-C in the terminal reaches tfexp only.
func dieWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: signal}
}
