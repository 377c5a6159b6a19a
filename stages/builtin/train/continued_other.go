//go:build !unix

package train

import "os"

// notifyContinued does nothing, because signals do not stop processes on this system.
func notifyContinued(chan<- os.Signal) {}
