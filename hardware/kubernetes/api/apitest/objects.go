package apitest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// tree is an object of the API, or a part of an object.
type tree = map[string]any

// NodeOf returns the node that a pod requests, or n1 if it requests none.
func NodeOf(pod tree) string {
	for _, term := range NodeTerms(pod) {
		for _, field := range Elements(term.(tree)["matchFields"]) {
			for _, value := range Elements(field.(tree)["values"]) {
				return value.(string)
			}
		}
	}
	return "n1"
}

// NodeTerms returns the terms of a pod's required affinity to nodes.
func NodeTerms(pod tree) []any {
	affinity := Child(Child(Child(pod, "spec"), "affinity"), "nodeAffinity")
	required := Child(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
	return Elements(required["nodeSelectorTerms"])
}

// SetCondition sets one condition of a status to True, and keeps the others.
func SetCondition(status tree, kind, reason, message string) {
	all := slices.DeleteFunc(slices.Clone(Elements(status["conditions"])), func(c any) bool {
		return c.(tree)["type"] == kind
	})
	status["conditions"] = append(all, tree{"type": kind, "status": "True", "reason": reason, "message": message})
}

// conditionOf reports whether a condition of a status is True.
func conditionOf(status tree, kind string) bool {
	return slices.ContainsFunc(Elements(status["conditions"]), func(c any) bool {
		return c.(tree)["type"] == kind && c.(tree)["status"] == "True"
	})
}

// Child returns a field of an object that is itself an object. It creates the field if it is missing.
func Child(o tree, name string) tree {
	inner, ok := o[name].(tree)
	if !ok {
		inner = tree{}
		o[name] = inner
	}
	return inner
}

// Meta returns the metadata of an object.
func Meta(o tree) tree { return Child(o, "metadata") }

// Elements returns the elements of a list; nil if v is no list.
func Elements(v any) []any {
	all, _ := v.([]any)
	return all
}

// Copy returns a copy of an object.
func Copy(o tree) (c tree) {
	raw, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		panic(err)
	}
	return c
}

// placeOf returns the key under which an object of a resource is stored.
func placeOf(resource string, o tree) string {
	namespace, _ := Meta(o)["namespace"].(string)
	return fmt.Sprintf("%s/%s/%v", resource, namespace, Meta(o)["name"])
}
