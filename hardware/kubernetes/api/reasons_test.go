package api

import (
	"slices"
	"testing"
)

// A container that waits is given up if waiting does not help. A node that has not read a Secret in time reads it again.
func TestObstacle(t *testing.T) {
	for _, c := range []struct {
		reason, message, want string
		vain                  bool
	}{
		{"CreateContainerConfigError", `secret "s" not found`, `CreateContainerConfigError: secret "s" not found`, true},
		{"CreateContainerConfigError", "failed to sync secret cache: timed out waiting for the condition",
			"CreateContainerConfigError: failed to sync secret cache: timed out waiting for the condition", false},
		{"ErrImagePull", "no answer", "ErrImagePull: no answer", false},
		{"ImagePullBackOff", "", "ImagePullBackOff", true},
		{"ErrImageNeverPull", "", "ErrImageNeverPull", true},
	} {
		p := Pod{}
		p.Status.ContainerStatuses = slices.Grow(p.Status.ContainerStatuses, 1)[:1]
		s := &p.Status.ContainerStatuses[0]
		s.Name, s.State.Waiting = ContainerName, &Waiting{Reason: c.reason, Message: c.message}
		if got, vain := (Namespace{}).Obstacle(&p); got != c.want || vain != c.vain {
			t.Errorf("%q, %v, want %q, %v", got, vain, c.want, c.vain)
		}
	}
}
