package start

import (
	"regexp"
	"strings"

	"github.com/tfexp/tfexp/hardware/launch"
)

// shellCalls matches the lines of a program of Python that call a shell or another program.
var shellCalls = regexp.MustCompile(`(?m)^[^#\n]*(?:os\.system|os\.popen|subprocess\.\w+|Popen|check_call|check_output)\s*\((.*)$`)

// lists makes the words of a list the text of a shell: ["sbatch", "run.sh"].
var lists = strings.NewReplacer(`", "`, " ", `', '`, " ", "[", " ")

// detached is the command by which a program starts another one that goes on after it; empty for none.
func detached(file string, raw []byte) string {
	if launch.Shell(file, raw) {
		return launch.Detaches(string(raw))
	}
	for _, call := range shellCalls.FindAllSubmatch(raw, -1) {
		if by := launch.Detaches(lists.Replace(string(call[1]))); by != "" {
			return by
		}
	}
	return ""
}
