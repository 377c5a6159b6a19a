package kubernetes

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// These are the objects of the API, with the fields that the engine reads.
type (
	meta struct {
		Name            string            `json:"name,omitempty"`
		Namespace       string            `json:"namespace,omitempty"`
		UID             string            `json:"uid,omitempty"`
		ResourceVersion string            `json:"resourceVersion,omitempty"`
		Labels          map[string]string `json:"labels,omitempty"`
		Annotations     map[string]string `json:"annotations,omitempty"`
		Deleted         *time.Time        `json:"deletionTimestamp,omitempty"`
		Owners          []owner           `json:"ownerReferences,omitempty"`
	}
	// owner names an object whose end is the end of other objects.
	owner struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		UID        string `json:"uid"`
	}

	// The types from here on are only read, except those with tags. Keys of JSON match fields in any case.

	statusCondition struct{ Type, Status, Reason, Message string }

	// list is an answer of the API with objects of one type.
	list[T any] struct {
		Metadata struct{ ResourceVersion, Continue string }
		Items    []T
	}

	// tree is an object of the API, or a part of an object, that the engine only writes.
	tree = map[string]any

	job struct {
		Metadata meta
		Status   struct {
			Active                          int
			CompletedIndexes, FailedIndexes string
			Conditions                      []statusCondition
		}
	}

	pod struct {
		Metadata meta
		Spec     struct {
			NodeName                   string
			InitContainers, Containers []container
			Overhead                   map[string]string
		}
		Status podStatus
	}
	container struct {
		RestartPolicy string
		Resources     resources
	}
	resources struct {
		Requests map[string]string `json:"requests,omitempty"`
		Limits   map[string]string `json:"limits,omitempty"`
	}
	toleration struct {
		Key      string `json:"key"`
		Operator string `json:"operator"`
		Value    string `json:"value,omitempty"`
		Effect   string `json:"effect,omitempty"`
	}
	podStatus struct {
		Phase, Reason, Message string
		Conditions             []statusCondition
		ContainerStatuses      []struct{ State containerState }
	}
	containerState struct {
		Waiting    *waitingState
		Running    *struct{}
		Terminated *terminatedState
	}
	waitingState    struct{ Reason, Message string }
	terminatedState struct {
		ExitCode, Signal int
		Reason, Message  string
		FinishedAt       time.Time
	}

	node struct {
		Metadata meta
		Spec     struct {
			Unschedulable bool
			Taints        []taint
		}
		Status struct {
			Allocatable map[string]string
			Conditions  []statusCondition
			Images      []struct{ Names []string }
		}
	}
	taint struct{ Key, Value, Effect string }

	event struct {
		Metadata              meta
		Type, Reason, Message string
	}

	// apiResources is the list of resources that an API group has.
	apiResources struct{ Resources []struct{ Name string } }

	// answer is the object in the body of an error of the API.
	answer struct{ Message string }

	watchEvent struct {
		Type   string
		Object json.RawMessage
	}
)

// condition returns the condition of a type with a status, or nil. The API lists conditions in any order.
func condition(all []statusCondition, kind, status string) *statusCondition {
	i := slices.IndexFunc(all, func(c statusCondition) bool { return c.Type == kind && c.Status == status })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// is returns the condition of a type if its status is True, or nil.
func is(all []statusCondition, kind string) *statusCondition { return condition(all, kind, "True") }

// state returns the state of the pod's container; the zero value if it has no state yet.
func (p *pod) state() containerState {
	if len(p.Status.ContainerStatuses) == 0 {
		return containerState{}
	}
	return p.Status.ContainerStatuses[0].State
}

// over reports whether the pod has ended.
func (p *pod) over() bool {
	return p.state().Terminated != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
}

// suffixes are the units of quantities of the API.
var suffixes = map[string]float64{
	"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

// quantity parses an amount of a resource: "1500m", "16Gi", "1e3". The empty text is 0.
func quantity(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	number := strings.TrimRight(text, "numkKMGTPEi")
	unit, known := suffixes[text[len(number):]]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !known || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%.40q is not a quantity", text)
	}
	return n * unit, nil
}
