package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Builder collects the jobs of a trace while a file is read. The zero value is empty.
type Builder struct {
	workload.Trace
	// names is the set of all names. It stays nil while each name is greater than the name before it, by length,
	// then by letters, as for increasing numbers. Such names cannot repeat.
	names map[string]bool
	// shared has strings that many jobs have, so that each is in memory once.
	shared map[string]string
}

// Add adds a job and numbers it. A negative run time means unknown. It returns an error for a name that is not
// unique or cannot name a log file.
func (b *Builder) Add(line int, j scheduler.Job, run time.Duration) error {
	switch {
	case len(b.Jobs) >= workload.MaxJobs:
		return fmt.Errorf("a workload can have at most %d jobs, but this one has more", workload.MaxJobs)
	case len(j.Name) > workload.MaxName:
		return fmt.Errorf("the job's name is %d bytes long, but may have at most %d, because its log file has "+
			"the same name", len(j.Name),
			workload.MaxName)
	case !utf8.ValidString(j.Name) || !utf8.ValidString(j.Class) || !utf8.ValidString(j.User):
		return fmt.Errorf("the name, class or user of job %q is not in UTF-8: convert the file, as with iconv -f LATIN1 -t UTF-8",
			j.Name)
	case b.taken(j.Name):
		return fmt.Errorf("job %q is there twice", j.Name)
	case !ValidName(j.Name):
		return fmt.Errorf("the job's name %q has a character that is not allowed in a file name, and its log file has the same name", j.Name)
	case j.Threads > workload.MaxThreads || j.Nodes > workload.MaxThreads || j.GPUs > workload.MaxThreads:
		return fmt.Errorf("job %q asks for more than %d threads, nodes or GPUs", j.Name, workload.MaxThreads)
	}
	if b.names != nil {
		b.names[j.Name] = true
	}
	j.Number = len(b.Jobs)
	if len(b.Jobs) == cap(b.Jobs) { // append would grow by a quarter, and copy each time
		b.Jobs = slices.Grow(b.Jobs, len(b.Jobs)+1)
	}
	b.Jobs = append(b.Jobs, j)
	b.RunTimes = append(b.RunTimes, run)
	b.Lines = append(b.Lines, int32(line))
	return nil
}

// Waited sets the recorded waiting time of the job that was added last.
func (b *Builder) Waited(wait time.Duration) {
	for len(b.Waits) < len(b.Jobs)-1 {
		b.Waits = append(b.Waits, -1)
	}
	b.Waits = append(b.Waits, wait)
}

// UsedMemory sets the memory of the job that was added last. It keeps the larger of several uses.
func (b *Builder) UsedMemory(requested, used int64) {
	if requested <= 0 || used <= 0 {
		return
	}
	b.Memory = append(b.Memory, make([]workload.MemoryUse, len(b.Jobs)-len(b.Memory))...)
	last := &b.Memory[len(b.Jobs)-1]
	*last = workload.MemoryUse{Requested: requested, Used: max(last.Used, used)}
}

// Resize adds a change of a job's request.
func (b *Builder) Resize(line int, z scheduler.Resize) {
	b.Resizes, b.ResizeLines = append(b.Resizes, z), append(b.ResizeLines, int32(line))
}

// AddAlternatives sets the alternatives of the job that was added last.
func (b *Builder) AddAlternatives(all []workload.Alternative) {
	if len(all) == 0 {
		return
	}
	b.Alternatives = append(b.Alternatives, make([][]workload.Alternative, len(b.Jobs)-len(b.Alternatives))...)
	b.Alternatives[len(b.Jobs)-1] = all
}

// Finish returns the trace. skipped are the errors of skipped lines.
func (b *Builder) Finish(skipped []error) workload.Trace {
	if !slices.ContainsFunc(b.RunTimes, func(d time.Duration) bool { return d >= 0 }) {
		b.RunTimes = nil
	}
	if b.Alternatives != nil {
		b.Alternatives = append(b.Alternatives, make([][]workload.Alternative, len(b.Jobs)-len(b.Alternatives))...)
	}
	for b.Waits != nil && len(b.Waits) < len(b.Jobs) {
		b.Waits = append(b.Waits, -1)
	}
	if b.Memory != nil {
		b.Memory = append(b.Memory, make([]workload.MemoryUse, len(b.Jobs)-len(b.Memory))...)
	}
	b.Skipped = skipped
	return b.Trace
}

// taken reports whether an earlier job has the name.
func (b *Builder) taken(name string) bool {
	if b.names != nil {
		return b.names[name]
	}
	n := len(b.Jobs)
	if n == 0 {
		return false
	}
	last := b.Jobs[n-1].Name
	if cmp.Or(cmp.Compare(len(last), len(name)), strings.Compare(last, name)) < 0 {
		return false
	}
	b.names = make(map[string]bool, 2*n)
	for i := range b.Jobs {
		b.names[b.Jobs[i].Name] = true
	}
	return b.names[name]
}

// ValidName reports whether a job may have the name, which is also the name of its log file.
func ValidName(name string) bool {
	return name != "." && name != ".." && !strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == '/' || r == '\\' || r == 0x7f
	})
}

// Share returns a string that equals s. Equal arguments get the same string, so that it is in memory once.
func (b *Builder) Share(s string) string {
	kept, ok := b.shared[s]
	if !ok {
		if b.shared == nil {
			b.shared = map[string]string{}
		}
		kept = strings.Clone(s)
		b.shared[kept] = kept
	}
	return kept
}
