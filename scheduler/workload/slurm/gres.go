// Package slurm parses output of Slurm: rows of tables, generic resources and memory.
package slurm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// Gres is a number of generic resources of Slurm, of a node or in a request.
type Gres struct {
	Name, Type string // in lower case; Type is empty if the text has none
	Count      int
	// Shared says that jobs do not use it up (no_consume).
	Shared bool
}

// indices matches the list of devices, or sockets, behind a number: "gpu:a100:2(IDX:0,3)", "gpu:4(S:0-1)".
var indices = regexp.MustCompile(`\([^()]*\)`)

// gresCount matches a number of generic resources, with an optional binary unit.
var gresCount = regexp.MustCompile(`^\d+[kKmMgGtTpP]?$`)

// ParseGres parses a list of generic resources in any form that Slurm reads or prints: "gpu:a100:2(S:0-1),gpu:1g",
// "gres:gpu:2", "gres/gpu:a100=2". A missing number is 1. Other resources, such as "cpu=4", are left out.
func ParseGres(text string) (list []Gres, err error) {
	for item := range strings.SplitSeq(indices.ReplaceAllString(text, ""), ",") {
		item = strings.TrimSpace(item)
		name, count, tracked := strings.Cut(item, "=")
		name = strings.ToLower(name)
		plain := strings.TrimPrefix(strings.TrimPrefix(name, "gres/"), "gres:")
		parts := strings.Split(plain, ":")
		named := slices.Contains([]string{"gpu", "gpus", "ngpus"}, parts[0])
		if _, err := TRESName(plain); err != nil && tracked {
			return nil, err
		}
		if item == "" || item == "(null)" || item == "none" || tracked && plain == name && !named {
			continue
		}
		g := Gres{Name: parts[0]}
		if g.Name == "gpus" || g.Name == "ngpus" { // PBS and other systems write it so
			g.Name = "gpu"
		}
		for i, part := range parts[1:] {
			switch {
			case part == "no_consume":
				g.Shared = true
			case !tracked && count == "" && gresCount.MatchString(part) && i == len(parts)-2:
				count = part
			case g.Type == "":
				g.Type = part
			default:
				return nil, fmt.Errorf("%q in %q is not a number such as 2 in gpu:2", part, text)
			}
		}
		if count == "" && !tracked {
			count = "1"
		}
		if g.Count, err = countOf(count); err != nil {
			return nil, fmt.Errorf("%q in %q is not a number such as 2 in gpu:2", count, text)
		}
		list = append(list, g)
	}
	return list, nil
}

// fixed has the names of the trackable resources with the same number on every cluster, by number. Other resources
// have numbers from 1001 on.
var fixed = map[string]string{"1": "cpu", "2": "mem", "3": "energy", "4": "node", "5": "billing", "6": "fs/disk", "7": "vmem", "8": "pages"}

// TRESName returns the name of a trackable resource, from its name or its number. It returns an error for a number
// whose meaning differs between clusters.
func TRESName(text string) (string, error) {
	if strings.Trim(text, "0123456789") != "" || text == "" {
		return text, nil
	}
	if name := fixed[text]; name != "" {
		return name, nil
	}
	return "", fmt.Errorf("the resource %s= is written as an ID, whose meaning differs between clusters: "+
		"\"sacctmgr show tres\" "+
		"lists the names by ID; write its type and name there, such as gres/gpu=", text)
}

// Tracked returns the amount of a resource in a list of trackable resources ("cpu=4,mem=16G", "1=4,2=16384"); empty
// if the list does not have it.
func Tracked(list, name string) string {
	for item := range strings.SplitSeq(list, ",") {
		switch key, value, _ := strings.Cut(strings.TrimSpace(item), "="); {
		case strings.EqualFold(key, name):
			return value
		case fixed[key] == name && name == "mem":
			return value + "M"
		case fixed[key] == name:
			return value
		}
	}
	return ""
}

// countOf parses a number with an optional binary unit.
func countOf(text string) (int, error) {
	if !gresCount.MatchString(text) {
		return 0, strconv.ErrSyntax
	}
	number := strings.TrimRight(text, "kKmMgGtTpP")
	n, err := strconv.Atoi(number)
	if unit := text[len(number):]; unit != "" && err == nil {
		shift := 10 * (1 + strings.Index("kmgtp", strings.ToLower(unit)))
		if n > (1<<62)>>shift {
			return 0, strconv.ErrRange
		}
		n <<= shift
	}
	return n, err
}

// ParseCount parses a number of CPUs or nodes. Slurm prints large ones with a binary unit: 1K is 1024.
func ParseCount(text string) (int, error) {
	number := strings.TrimRight(text, "kKmM")
	if number == text {
		n, err := strconv.ParseUint(text, 10, 31)
		return int(n), err
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 || n > 1<<20 || len(text) > len(number)+1 || strings.Trim(number, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return int(n * float64(int64(1024)<<(10*strings.Index("km", strings.ToLower(text[len(number):]))))), nil
}

// AskedGPUs returns the number of GPUs in a list of a job's resources, and their types. An entry without a type
// counts all GPUs, even if entries with types follow.
func AskedGPUs(list []Gres) (gpus int, types []string) {
	typed, all := 0, 0
	for _, g := range list {
		switch {
		case g.Name != "gpu" || g.Count == 0:
		case g.Type == "":
			all = max(all, g.Count)
		default:
			typed += g.Count
			if !slices.Contains(types, g.Type) {
				types = append(types, g.Type)
			}
		}
	}
	return max(all, typed), types
}

// perCore are bits that old versions of Slurm add to a number of megabytes, if the memory is for each core.
var perCore = []uint64{1 << 63, 1 << 31}

// ParseReqMem parses an amount of memory that Slurm has printed, as logs.ParseMemory does. It also handles the bits
// in perCore.
func ParseReqMem(text string, unit int64) (bytes int64, each byte, err error) {
	plain := strings.TrimRight(text, "cn")
	number := strings.TrimRight(plain, "kKmMgGtTpP")
	step := 0 // index of the unit, from MiB on
	if unit := strings.ToUpper(plain[len(number):]); len(unit) == 1 {
		step = strings.Index("KMGTP", unit) - 1
	}
	if n, err := strconv.ParseFloat(number, 64); err == nil && step >= 0 {
		for _, flag := range perCore {
			flag >>= 10 * step
			if n < float64(flag) || flag == 0 {
				continue
			}
			rest := fmt.Sprint(n - float64(flag))
			if whole, err := strconv.ParseUint(number, 10, 64); err == nil {
				rest = fmt.Sprint(whole - flag)
			}
			bytes, _, err := logs.ParseMemory(rest+string("MGTP"[step]), unit)
			return bytes, 'c', err
		}
	}
	if suffix := text[len(plain):]; len(suffix) <= 1 {
		return logs.ParseMemory(strings.ToUpper(plain)+suffix, unit)
	}
	return logs.ParseMemory(text, unit)
}

// GPUs returns the number of GPUs in a job's list of resources. In the form "gres:gpu:2", the number is for each of
// its nodes.
func GPUs(text string, nodes int) (int, error) {
	list, err := ParseGres(text)
	if err != nil {
		return 0, err
	}
	n, _ := AskedGPUs(list)
	if !strings.Contains(text, "=") {
		n *= max(nodes, 1)
	}
	if n > workload.MaxThreads {
		return 0, fmt.Errorf("%q has more than %d GPUs", text, workload.MaxThreads)
	}
	return n, nil
}
