// Package slurm reads the texts that Slurm prints: rows of tables, generic resources and memory.
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

// Gres is a generic resource of Slurm, as a node has it, or a job asks for it.
type Gres struct {
	Name, Type string // in lower case; the type is empty where none is given
	Count      int
	// Shared says that jobs do not consume it (no_consume).
	Shared bool
}

// indices are which of the devices of a node, or of its sockets: "gpu:a100:2(IDX:0,3)", "gpu:4(S:0-1)".
var indices = regexp.MustCompile(`\([^()]*\)`)

// gresCount matches a number of generic resources, with a binary unit.
var gresCount = regexp.MustCompile(`^\d+[kKmMgGtTpP]?$`)

// ParseGres reads a list of generic resources in any form in which Slurm takes or prints it:
// "gpu:a100:2(S:0-1),gpu:1g", "gres:gpu:2", "gres/gpu:a100=2". A number that is missing is 1. Resources that are not
// generic, as "cpu=4", are left out.
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
		if g.Name == "gpus" || g.Name == "ngpus" { // as PBS and others have them
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
				return nil, fmt.Errorf("%q in %q is not a number of a resource", part, text)
			}
		}
		if count == "" && !tracked {
			count = "1"
		}
		if g.Count, err = countOf(count); err != nil {
			return nil, fmt.Errorf("%q in %q is not a number of a resource", count, text)
		}
		list = append(list, g)
	}
	return list, nil
}

// fixed are the names of the trackable resources that each cluster has, by their numbers. The others have numbers from 1001.
var fixed = map[string]string{"1": "cpu", "2": "mem", "3": "energy", "4": "node", "5": "billing", "6": "fs/disk", "7": "vmem", "8": "pages"}

// TRESName returns the name of a trackable resource, which may be written as its number. It errs for a number that each
// cluster gives another meaning.
func TRESName(text string) (string, error) {
	if strings.Trim(text, "0123456789") != "" || text == "" {
		return text, nil
	}
	if name := fixed[text]; name != "" {
		return name, nil
	}
	return "", fmt.Errorf("the resource %s= is written as a number, which each cluster gives another meaning: \"sacctmgr show tres\" "+
		"lists the names by ID; write its type and name there, such as gres/gpu=", text)
}

// Tracked returns the amount of a resource in a list of trackable resources ("cpu=4,mem=16G", "1=4,2=16384"); empty without it.
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

// countOf reads a number with a binary unit, as Slurm has it for generic resources.
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

// AskedGPUs returns how many GPUs a list of a job's resources has, and their types. An entry without a type has
// all of them, also where entries with types follow.
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

// The flag of memory for each core, which old versions of Slurm leave in the number of megabytes.
var perCore = []uint64{1 << 63, 1 << 31}

// ParseReqMem reads an amount of memory that Slurm has printed, as ParseMemory does. A flag for memory of each core
// within the number is read as part of the number.
func ParseReqMem(text string, unit int64) (bytes int64, each byte, err error) {
	plain := strings.TrimRight(text, "cn")
	number := strings.TrimRight(plain, "kKmMgGtTpP")
	step := 0 // from MiB
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

// GPUs returns the GPUs of a list of resources of a job: all of them, or with "gres:gpu:2" the GPUs of each of its
// nodes.
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
