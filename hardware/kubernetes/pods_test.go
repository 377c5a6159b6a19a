package kubernetes

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// A pod that the Job itself puts in place of a lost pod has as much time to start as any pod, however long its program
// has run before.
func TestReplacedPodHasTime(t *testing.T) {
	l := &podLife{podStart: podStart{since: time.Now().Add(-time.Hour), seen: "the lost pod"}}
	if end := l.wait(state{pod: &api.Pod{}, at: time.Now()}); end != nil {
		t.Error(end.Why)
	}
}
