package kubernetes

import (
	"context"
	"net/url"
	"slices"
	"strings"
)

// hopeless are reasons of waiting containers that do not go away by waiting.
var hopeless = []string{"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "ImageInspectError"}

// obstacle returns why a pod does not run. vain means that it will never run.
func (k *cluster) obstacle(p *pod) (reason string, vain bool) {
	starts := []string{"", "ContainerCreating", "PodInitializing"}
	if w := p.state().Waiting; w != nil && !slices.Contains(starts, w.Reason) {
		text := w.Reason
		if w.Message != "" {
			text += ": " + w.Message
		}
		// ImagePullBackOff follows the second failure to fetch an image: the first may be a fault of the network.
		return text, slices.Contains(hopeless, w.Reason) || w.Reason == "ImagePullBackOff"
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			return c.Reason + ": " + c.Message, false
		}
	}
	events, err := k.events(p.Metadata.UID)
	if err != nil {
		return "its events cannot be read: " + err.Error(), false
	}
	for _, v := range events {
		if v.Type == "Warning" {
			reason = v.Reason + ": " + v.Message
		}
	}
	return reason, false
}

// refusal returns why a Job creates no pod. vain means that it will never create one.
func (k *cluster) refusal(uid string) (reason string, vain bool) {
	events, err := k.events(uid)
	if err != nil {
		return "its events cannot be read: " + err.Error(), false
	}
	for _, v := range events {
		if v.Reason == "FailedCreate" {
			reason = v.Message
			vain = !strings.Contains(v.Message, "exceeded quota") && (strings.Contains(v.Message, "is forbidden") ||
				strings.Contains(v.Message, "denied the request") || strings.Contains(v.Message, "is invalid"))
		}
	}
	return reason, vain
}

// disturbed describes who took a pod away from its program; empty if nobody did.
func disturbed(p *pod) string {
	if c := is(p.Status.Conditions, "DisruptionTarget"); c != nil {
		return strings.TrimSpace("the cluster took its pod away (" + c.Reason + "): " + c.Message)
	}
	if p.Status.Reason == "Evicted" || p.Status.Reason == "NodeLost" || p.Status.Reason == "Preempting" ||
		p.Status.Reason == "Shutdown" || p.Status.Reason == "NodeShutdown" || p.Status.Reason == "Terminated" {
		return strings.TrimSpace("its node ended its pod (" + p.Status.Reason + "): " + p.Status.Message)
	}
	if p.Metadata.Deleted != nil {
		return "somebody deleted its pod"
	}
	return ""
}

// events returns the events of an object, oldest first.
func (k *cluster) events(uid string) ([]event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	list, _, err := all[event](ctx, k.client, call{verb: "list", resource: "events", namespace: k.namespace,
		query: url.Values{"fieldSelector": {"involvedObject.uid=" + uid}}})
	return list, err
}
