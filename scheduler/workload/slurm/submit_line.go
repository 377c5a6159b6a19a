package slurm

import (
	"slices"
	"strings"
)

// switches are the options of sbatch, srun and salloc that have no value in the next word.
var switches = strings.Fields("-H --hold --requeue --no-requeue --parsable -Q --quiet -v --verbose -W --wait --contiguous -O --overcommit " +
	"-s --oversubscribe --share --spread-job --use-min-nodes --test-only --ignore-pbs --reboot --exclusive -k --no-kill --get-user-env -I " +
	"--immediate -u --unbuffered -l --label --pty --multi-prog -E --preserve-env -X --disable-status -Z --no-allocate --interactive " +
	"--no-bell --no-shell -K --kill-on-bad-exit --propagate --overlap --whole --exact --debugger-test")

// AsksExclusive reports whether the command in the column SubmitLine asks for nodes that no other job shares, by
// --exclusive before the script. shared is another value of this option, such as user.
func AsksExclusive(line string) (exclusive bool, shared string) {
	words := strings.Fields(line)
	for i := 1; i < len(words); i++ {
		name, value, given := strings.Cut(words[i], "=")
		switch {
		case words[i] == "--" || !strings.HasPrefix(words[i], "-"): // the script
			return exclusive, shared
		case name == "--exclusive" && given && !slices.Contains([]string{"exclusive", "yes", "true"}, value):
			exclusive, shared = false, value
		case name == "--exclusive":
			exclusive, shared = true, ""
		case given || slices.Contains(switches, name) || len(name) > 2 && name[1] != '-': // -n4
		default:
			i++ // its value
		}
	}
	return exclusive, shared
}
