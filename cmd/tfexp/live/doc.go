// Package live shows the progress of the run in this process, as lines of text. A feature can show it on terminals in
// another form.
package live
