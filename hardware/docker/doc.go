// Package docker runs jobs as containers, through the API of one or more
// Docker daemons (the nodes of a cluster). It needs Docker 20.10 or later.
//
// A job is a container of its own: bound to its cores by a cpuset (or limited
// by a quota), limited in memory, without network and privileges unless asked,
// paused with the freezer, and removed when it has ended. What a program
// prints is streamed into its log, and its progress lines into reports; its
// control file is in a folder that is mounted, so that a change of the
// allotment is seen at once.
//
// Containers live under the daemon, so that killing tfexp does not end them.
// They carry labels with the folder of results that they belong to, by which
// package daemon, at the next start, finds and removes what was left behind.
//
// A daemon that goes away is waited for, for a while. What it did to the
// containers is then found out: those that are gone have failed, and say so.
package docker
