package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// These are the objects of the API, with the fields that the engine reads.
type (
	Meta struct {
		Name            string            `json:"name,omitempty"`
		Namespace       string            `json:"namespace,omitempty"`
		UID             string            `json:"uid,omitempty"`
		ResourceVersion string            `json:"resourceVersion,omitempty"`
		Labels          map[string]string `json:"labels,omitempty"`
		Annotations     map[string]string `json:"annotations,omitempty"`
		Deleted         *time.Time        `json:"deletionTimestamp,omitempty"`
		Owners          []Owner           `json:"ownerReferences,omitempty"`
	}
	// owner names an object whose end is the end of other objects.
	Owner struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		UID        string `json:"uid"`
	}

	// The types from here on are only read, except those with tags. Keys of JSON match fields in any case.

	Condition struct{ Type, Status, Reason, Message string }

	// list is an answer of the API with objects of one type.
	page[T any] struct {
		Metadata struct{ ResourceVersion, Continue string }
		Items    []T
	}

	// tree is an object of the API, or a part of an object, that the engine only writes.
	tree = map[string]any

	Job struct {
		Metadata Meta
		Status   struct {
			Active                          int
			CompletedIndexes, FailedIndexes string
			Conditions                      Conditions
		}
	}

	Pod struct {
		Metadata Meta
		Spec     struct {
			NodeName                   string
			InitContainers, Containers []Container
			Overhead                   map[string]string
		}
		Status PodStatus
	}
	Container struct {
		RestartPolicy string
		Resources     Resources
	}
	Resources struct {
		Requests map[string]string `json:"requests,omitempty"`
		Limits   map[string]string `json:"limits,omitempty"`
	}
	Toleration struct {
		Key      string `json:"key"`
		Operator string `json:"operator"`
		Value    string `json:"value,omitempty"`
		Effect   string `json:"effect,omitempty"`
	}
	PodStatus struct {
		Phase, Reason, Message string
		Conditions             Conditions
		ContainerStatuses      []struct {
			Name  string
			State ContainerState
		}
	}
	ContainerState struct {
		Waiting    *Waiting
		Running    *struct{}
		Terminated *Termination
	}
	Waiting     struct{ Reason, Message string }
	Termination struct {
		ExitCode, Signal int
		Reason, Message  string
		FinishedAt       time.Time
	}

	Node struct {
		Metadata Meta
		Spec     struct {
			Unschedulable bool
			Taints        []Taint
		}
		Status struct {
			Allocatable map[string]string
			Conditions  Conditions
			Images      []struct{ Names []string }
		}
	}
	Taint struct{ Key, Value, Effect string }

	Event struct {
		Metadata              Meta
		Type, Reason, Message string
	}

	// answer is the object in the body of an error of the API.
	answer struct{ Message string }
)

// IndexAnnotation is the annotation with the index of a pod of an indexed Job.
const IndexAnnotation = "batch.kubernetes.io/job-completion-index"

// QueueLabel is the label of a Job that names its LocalQueue of Kueue.
const QueueLabel = "kueue.x-k8s.io/queue-name"

// Conditions are the conditions of an object, in any order.
type Conditions []Condition

// Find returns the condition of a type with a status, or nil.
func (c Conditions) Find(kind, status string) *Condition {
	i := slices.IndexFunc(c, func(c Condition) bool { return c.Type == kind && c.Status == status })
	if i < 0 {
		return nil
	}
	return &c[i]
}

// True returns the condition of a type if its status is True, or nil.
func (c Conditions) True(kind string) *Condition { return c.Find(kind, "True") }

// ContainerName is the name of the container of the engine in each pod.
const ContainerName = "job"

// State returns the state of this container; the zero value if it has no state yet. Admission controllers may have
// added other containers to the pod.
func (p *Pod) State() (s ContainerState) {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == ContainerName {
			s = c.State
		}
	}
	return s
}

// Over reports whether the pod has ended.
func (p *Pod) Over() bool {
	return p.State().Terminated != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
}

// suffixes are the units of quantities of the API.
var suffixes = map[string]float64{
	"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

// Quantity parses an amount of a resource: "1500m", "16Gi", "1e3". The empty text is 0.
func Quantity(text string) (float64, error) {
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

// Requests returns how much of a resource a pod requests: the sum of its containers, or the largest init container if
// that is more.
func (p *Pod) Requests(name string) (float64, error) {
	var errs []error
	amount := func(text string) float64 {
		n, err := Quantity(text)
		errs = append(errs, err)
		return n
	}
	of := func(c *Container) float64 {
		return amount(cmp.Or(c.Resources.Requests[name], c.Resources.Limits[name]))
	}
	sum, most := amount(p.Spec.Overhead[name]), 0.0
	for i := range p.Spec.Containers {
		sum += of(&p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy == "Always" {
			sum += of(c)
		} else {
			most = max(most, of(c))
		}
	}
	return max(sum, most), errors.Join(errs...)
}

// ToleratedBy reports whether a toleration covers the taint.
func (t *Taint) ToleratedBy(by Toleration) bool {
	return by.Key == t.Key && (by.Operator == "Exists" || by.Value == t.Value) &&
		(by.Effect == "" || by.Effect == t.Effect)
}
