// Package twin compares simulations with records: it reads the accounting of a Slurm cluster, and compares the
// waiting times of its jobs with the cells'.
package twin
