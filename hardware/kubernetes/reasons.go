package kubernetes

import (
	"context"
	"net/url"
	"slices"
	"strings"
)

// hopeless are reasons of waiting containers that do not go away by waiting.
var hopeless = []string{"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "ImageInspectError"}

// unscheduled returns why the scheduler of the cluster has not placed a pod; empty if it has, or gives no reason. The
// pod may be nil.
func unscheduled(p *pod) string {
	if p == nil {
		return ""
	}
	if c := condition(p.Status.Conditions, "PodScheduled", "False"); c != nil {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// obstacle returns why a pod does not run. vain means that it will never run.
func (k *cluster) obstacle(p *pod) (reason string, vain bool) {
	starts := []string{"", "ContainerCreating", "PodInitializing"}
	if w := p.state().Waiting; w != nil && !slices.Contains(starts, w.Reason) {
		// ImagePullBackOff follows the second failure to fetch an image: the first may be a fault of the network.
		vain = slices.Contains(hopeless, w.Reason) || w.Reason == "ImagePullBackOff"
		return strings.TrimSuffix(w.Reason+": "+w.Message, ": "), vain
	}
	if reason = unscheduled(p); reason != "" {
		return reason, false
	}
	v := k.lastEvent(p.Metadata.UID, func(v *event) bool { return v.Type == "Warning" })
	return strings.TrimPrefix(v.Reason+": "+v.Message, ": "), false
}

// refusal returns why a Job creates no pod. vain means that it will never create one.
func (k *cluster) refusal(uid string) (reason string, vain bool) {
	v := k.lastEvent(uid, func(v *event) bool { return v.Reason == "FailedCreate" })
	says := func(text string) bool { return strings.Contains(v.Message, text) }
	return v.Message, v.Reason != "" && !says("exceeded quota") &&
		(says("is forbidden") || says("denied the request") || says("is invalid"))
}

// nodeEnds are the reasons in the status of pods that their nodes have ended.
var nodeEnds = []string{"Evicted", "NodeLost", "Preempting", "Shutdown", "NodeShutdown", "Terminated"}

// disturbed describes who took a pod away from its program; empty if nobody did. The pod may be nil.
func disturbed(p *pod) string {
	if p == nil {
		return ""
	}
	if c := is(p.Status.Conditions, "DisruptionTarget"); c != nil {
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

// lastEvent returns the last event of an object that counts. If the events cannot be read, it returns an event that
// says so and has no reason; without such an event, the zero value.
func (k *cluster) lastEvent(uid string, counts func(*event) bool) (last event) {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	list, _, err := all[event](ctx, k.client, call{verb: "list", resource: "events", namespace: k.namespace,
		query: url.Values{"fieldSelector": {"involvedObject.uid=" + uid}}})
	if err != nil {
		return event{Message: "its events cannot be read: " + err.Error()}
	}
	for i := range list {
		if counts(&list[i]) {
			last = list[i]
		}
	}
	return last
}
