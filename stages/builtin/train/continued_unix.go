//go:build unix

package train

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyContinued sends on c when the process continues after a stop.
func notifyContinued(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }
