// Package live shows the run of this process: in lines of text, or as a feature shows it on a terminal.
package live
