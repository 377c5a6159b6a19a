// Package twin makes the twin of a cluster: an experiment that works by the rules of a Slurm controller, from its
// configuration (slurm.conf), its accounting (sacct) and its accounts (sacctmgr). The rules themselves are those of
// package batch, which any experiment can use.
package twin
