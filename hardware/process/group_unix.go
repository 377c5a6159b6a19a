//go:build unix

package process

import (
	"sync/atomic"
)

// noGroups is set once a program could only be started without a group.
var noGroups atomic.Bool

// groupHome returns the folder in which the groups of programs are made; empty if there is no such folder.
func groupHome() string {
	if noGroups.Load() {
		return ""
	}
	return ownGroup()
}
