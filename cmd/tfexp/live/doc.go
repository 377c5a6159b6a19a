// Package live shows runs in progress. Watch follows the files that a run
// writes, in this process or another one; the status line, the full screen and
// the page in a browser show its data.
package live
