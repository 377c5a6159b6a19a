//go:build !unix

package train

import "os"

// notifyContinued does nothing: here processes are not stopped by signals.
func notifyContinued(chan<- os.Signal) {}
