//go:build unix

package train

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyContinued makes SIGCONT, which continues a stopped process, send on c.
func notifyContinued(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }
