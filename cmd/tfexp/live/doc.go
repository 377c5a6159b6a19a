// Package live shows runs in progress. Watch follows the files that a run
// writes, its own or that of another process; the status line, the full screen
// and the page in a browser show what it knows.
package live
