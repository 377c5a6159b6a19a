//go:build !unix

package external

import "time"

// spinTime is how long a process polls for the next message before it sleeps.
func spinTime() time.Duration { return 0 }

// Read reads from Out.
func (c *companion) Read(b []byte) (int, error) { return c.Out.Read(b) }
