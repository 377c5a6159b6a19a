//go:build unix

package process

import (
	"sync/atomic"
)

// noGroups is true once a program could only be started without a group.
var noGroups atomic.Bool

// groupHome returns the folder in which the groups of programs are created; empty if groups cannot be created.
func groupHome() string {
	if noGroups.Load() {
		return ""
	}
	return ownGroup()
}
