// Package twin sets simulations beside what was recorded: it reads the accounting of a Slurm cluster, and compares the
// waiting times of its jobs with those of the cells.
package twin
