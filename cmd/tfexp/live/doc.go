// Package live shows the run of this process: the status line, or lines of text where there is no terminal.
package live
