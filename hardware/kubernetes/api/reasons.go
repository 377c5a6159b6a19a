package api

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// hopeless are reasons of waiting containers that do not go away by waiting.
var hopeless = []string{"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "ImageInspectError"}

// Unscheduled returns why the scheduler of the cluster has not placed a pod; empty if it has, or gives no reason. The
// pod may be nil.
func (p *Pod) Unscheduled() string {
	if p == nil {
		return ""
	}
	if c := p.Status.Conditions.Find("PodScheduled", "False"); c != nil {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// Obstacle returns why a pod does not run. vain means that it will never run.
func (n Namespace) Obstacle(p *Pod) (reason string, vain bool) {
	starts := []string{"", "ContainerCreating", "PodInitializing"}
	if w := p.State().Waiting; w != nil && !slices.Contains(starts, w.Reason) {
		// ImagePullBackOff follows the second failure to fetch an image: the first may be a fault of the network.
		// A busy node that has not read a Secret yet tries again.
		vain = slices.Contains(hopeless, w.Reason) && !strings.Contains(w.Message, "timed out waiting for the condition") ||
			w.Reason == "ImagePullBackOff"
		return strings.TrimSuffix(w.Reason+": "+w.Message, ": "), vain
	}
	if reason = p.Unscheduled(); reason != "" {
		return reason, false
	}
	v := n.lastEvent(p.Metadata.UID, func(v *Event) bool { return v.Type == "Warning" })
	return strings.TrimPrefix(v.Reason+": "+v.Message, ": "), false
}

// Refusal returns why a Job creates no pod. vain means that it will never create one.
func (n Namespace) Refusal(uid string) (reason string, vain bool) {
	v := n.lastEvent(uid, func(v *Event) bool { return v.Reason == "FailedCreate" })
	says := func(text string) bool { return strings.Contains(v.Message, text) }
	return v.Message, v.Reason != "" && !says("exceeded quota") &&
		(says("is forbidden") || says("denied the request") || says("is invalid"))
}

// nodeEnds are the reasons in the status of pods that their nodes have ended.
var nodeEnds = []string{"Evicted", "NodeLost", "Preempting", "Shutdown", "NodeShutdown", "Terminated"}

// Disruption describes who took a pod away from its program; empty if nobody did. The pod may be nil.
func (p *Pod) Disruption() string {
	if p == nil {
		return ""
	}
	if c := p.Status.Conditions.True("DisruptionTarget"); c != nil {
		return strings.TrimSpace("the cluster took its pod away (" + c.Reason + "): " + c.Message)
	}
	if slices.Contains(nodeEnds, p.Status.Reason) {
		return strings.TrimSpace("its node ended its pod (" + p.Status.Reason + "): " + p.Status.Message)
	}
	if p.Metadata.Deleted != nil {
		return "somebody deleted its pod"
	}
	return ""
}

// LastEvent describes the last event of an object; empty if there is none.
func (n Namespace) LastEvent(uid string) string {
	v := n.lastEvent(uid, func(*Event) bool { return true })
	return strings.TrimPrefix(v.Reason+": "+v.Message, ": ")
}

// lastEvent returns the last event of an object that counts. If the events cannot be read, it returns an event that
// says so and has no reason; without such an event, the zero value.
func (n Namespace) lastEvent(uid string, counts func(*Event) bool) (last Event) {
	ctx, cancel := context.WithTimeout(context.Background(), CallLimit)
	defer cancel()
	list, _, err := List[Event](ctx, n.Client, Call{Verb: "list", Resource: "events", Namespace: n.Name,
		Query: url.Values{"fieldSelector": {"involvedObject.uid=" + uid}}})
	if err != nil {
		return Event{Message: "its events cannot be read: " + err.Error()}
	}
	for i := range list {
		if counts(&list[i]) {
			last = list[i]
		}
	}
	return last
}

// Failure describes the end of a pod that did not succeed. program and image are those of its container.
func (p *Pod) Failure(program, image string) string {
	t := p.State().Terminated
	switch {
	case t == nil:
		return strings.TrimSpace("its pod failed: " + p.Status.Reason + " " + p.Status.Message)
	case t.Reason == "OOMKilled":
		return "killed because its memory ran out"
	case t.Reason == "StartError" || t.Reason == "ContainerCannotRun":
		return fmt.Sprintf("its program %q could not be started in the image %q: %s", program, image, t.Message)
	case t.ExitCode == 127 || t.ExitCode == 126:
		return fmt.Sprintf("exit status %d: the image %q has no program that can be executed as %q", t.ExitCode, image,
			program)
	case t.ExitCode > 128 && t.ExitCode < 128+65:
		s := syscall.Signal(t.ExitCode - 128)
		return fmt.Sprintf("killed by signal %d (%s)", int(s), s)
	}
	return fmt.Sprintf("exit status %d", t.ExitCode)
}
