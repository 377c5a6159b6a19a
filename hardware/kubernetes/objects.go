package kubernetes

import (
	"encoding/json"
	"fmt"
	"math"
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

	statusCondition struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}

	// list is an answer of the API with objects of one type.
	list[T any] struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
			Continue        string `json:"continue"`
		} `json:"metadata"`
		Items []T `json:"items"`
	}

	// tree is an object of the API, or a part of an object, that the engine only writes.
	tree = map[string]any

	job struct {
		Metadata meta `json:"metadata"`
		Status   struct {
			Active     int               `json:"active"`
			Completed  string            `json:"completedIndexes"`
			Failed     string            `json:"failedIndexes"`
			Conditions []statusCondition `json:"conditions"`
		} `json:"status"`
	}

	pod struct {
		Metadata meta `json:"metadata"`
		Spec     struct {
			NodeName       string            `json:"nodeName"`
			InitContainers []container       `json:"initContainers"`
			Containers     []container       `json:"containers"`
			Overhead       map[string]string `json:"overhead"`
		} `json:"spec"`
		Status podStatus `json:"status"`
	}
	container struct {
		RestartPolicy string    `json:"restartPolicy"`
		Resources     resources `json:"resources"`
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
		Phase      string            `json:"phase"`
		Reason     string            `json:"reason"`
		Message    string            `json:"message"`
		Conditions []statusCondition `json:"conditions"`
		Containers []containerStatus `json:"containerStatuses"`
	}
	containerStatus struct {
		State containerState `json:"state"`
	}
	containerState struct {
		Waiting    *waitingState    `json:"waiting"`
		Running    *struct{}        `json:"running"`
		Terminated *terminatedState `json:"terminated"`
	}
	waitingState struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	terminatedState struct {
		ExitCode int       `json:"exitCode"`
		Signal   int       `json:"signal"`
		Reason   string    `json:"reason"`
		Message  string    `json:"message"`
		Finished time.Time `json:"finishedAt"`
	}

	node struct {
		Metadata meta `json:"metadata"`
		Spec     struct {
			Unschedulable bool    `json:"unschedulable"`
			Taints        []taint `json:"taints"`
		} `json:"spec"`
		Status struct {
			Allocatable map[string]string `json:"allocatable"`
			Conditions  []statusCondition `json:"conditions"`
			Images      []struct {
				Names []string `json:"names"`
			} `json:"images"`
		} `json:"status"`
	}
	taint struct {
		Key    string `json:"key"`
		Value  string `json:"value"`
		Effect string `json:"effect"`
	}

	event struct {
		Metadata meta   `json:"metadata"`
		Type     string `json:"type"`
		Reason   string `json:"reason"`
		Message  string `json:"message"`
	}

	// apiResources is the list of resources that an API group has.
	apiResources struct {
		Resources []struct {
			Name string `json:"name"`
		} `json:"resources"`
	}

	// answer is the object in the body of an error of the API.
	answer struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Code    int    `json:"code"`
	}

	watchEvent struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
)

// is returns the condition of a type if its status is True, or nil. The API lists conditions in any order.
func is(all []statusCondition, kind string) *statusCondition {
	for i, c := range all {
		if c.Type == kind && c.Status == "True" {
			return &all[i]
		}
	}
	return nil
}

// state returns the state of the pod's container; the zero value if it has no state yet.
func (p *pod) state() containerState {
	if len(p.Status.Containers) == 0 {
		return containerState{}
	}
	return p.Status.Containers[0].State
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
