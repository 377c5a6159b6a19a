package start

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/folder"
)

func init() { launch.RegisterEndRemark(startsOthers) }

// detaching lists the commands that start a program and end before the program does.
var detaching = []struct {
	name string
	by   *regexp.Regexp
}{
	{"nohup", regexp.MustCompile(`\bnohup\b[^\n]*[^&>|<\n]&(?:\s*(?:$|[\n;)"'\x60])|[ \t]+\w)`)},
	{"screen -d -m", regexp.MustCompile(`\bscreen\s+(?:-\w+\s+(?:[^-\s]\S*\s+)?)*-(?:\w*d\w*m\w*|\w*m\w*d\w*|d\s+-m` +
		`|m\s+-d)\b`)},
	{"tmux new-session -d", regexp.MustCompile(`\btmux\s+(?:-\S+\s+(?:\S+\s+)?)?(?:new|new-session)\s+` +
		`(?:[^\n;]*\s)?-\w*d`)},
	{"setsid", regexp.MustCompile(`\bsetsid\s+(?:-\S+\s+)*(?:-f|--fork)\b|\bsetsid\b[^\n]*[^&>|]&\s*(?:$|[\n;)"'])`)},
	{"sbatch", handedIn("sbatch")},
	{"qsub", handedIn("qsub")},
	{"bsub", handedIn("bsub")},
	{"docker run -d", regexp.MustCompile(`\b(?:docker|podman|nerdctl)\s+run\s(?:[^\n]*\s)?` +
		`(?:-[a-z]*d[a-z]*|--detach)(?:\s|=true|$)`)},
	{"kubectl apply", regexp.MustCompile(`\bkubectl\s+(?:apply|create)\s`)},
	{"systemd-run", regexp.MustCompile(`\bsystemd-run\s`)},
	{"at", regexp.MustCompile(`(?m)(?:^|[|;&])\s*(?:at|batch)\s+(?:-\w+\s+\S+\s+)*(?:now|-|<<<)`)},
	{"condor_submit", handedIn("condor_submit")},
	{"oarsub", handedIn("oarsub")},
	{"msub", handedIn("msub")},
	{"flux submit", handedIn(`flux\s+(?:submit|batch)`)},
	{"docker compose up -d", regexp.MustCompile(`\bdocker[- ]compose\s(?:[^\n]*\s)?up\s(?:[^\n]*\s)?` +
		`(?:-d|--detach)(?:\s|$)`)},
	{"systemctl start", regexp.MustCompile(`\bsystemctl\s(?:-\S+\s+)*start\s`)},
	{"start-stop-daemon", regexp.MustCompile(`\bstart-stop-daemon\s(?:[^\n]*\s)?(?:-b|--background)\b`)},
	{"daemonize", handedIn("daemonize")},
	{"coproc", handedIn("coproc")},
	{"ssh -f", regexp.MustCompile(`\bssh\s+(?:-\w+\s+)*-\w*f\w*\s`)},
	{"pm2 start", handedIn(`pm2\s+start`)},
	{"supervisorctl start", handedIn(`supervisorctl\s+(?:re)?start`)},
	{"ray job submit --no-wait", regexp.MustCompile(`\bray\s+job\s+submit\s[^\n]*--no-wait\b`)},
	{"tsp", handedIn("tsp")},
	{"daemon", handedIn("daemon")},
	{"disown", regexp.MustCompile(`\bdisown\b`)},
}

// background matches a command with & at its end. The first pattern is for text outside of quotes, the second for the
// end of a quoted text.
var (
	background = regexp.MustCompile(`(?:^|[^&>|<\\])&(?:[\s;)!]|$)`)
	quotedEnd  = regexp.MustCompile(`[^&>|<\\\s]\s+&\s*["'\x60]`)
	inQuotes   = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"`)
)

// handedIn returns a pattern for a command that submits a job to a batch system.
func handedIn(command string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[;&|("'\x60=]|\$\()\s*` + command + `\s+[^\s|&;]`)
}

// waits matches commands that wait for programs in the background, or for a submitted job.
var waits = regexp.MustCompile(`(?m)(?:^|[;&|({'"]|\b(?:do|then|else))\s*wait(?:\s+[-$%"'\d]|\s*[;&|)}'"]|\s*$)|` +
	`\bsystemd-run\s[^\n]*(?:--scope|--wait|--pipe|--pty|\s-[tP]\b)|\bsbatch\s[^\n]*(?:--wait\b|-W\b)|-sync\s+y|` +
	`-W\s+block=true|\bbsub\s[^\n]*-K\b|\bcondor_wait\b|\btail\s[^\n]*--pid|\b(?:while|until)\b[^\n]*\b(?:squeue` +
	`|qstat|bjobs|condor_q|pgrep|kill\s+-0)\b|docker\s+(?:wait|logs\s+-f)\b|kubectl\s+wait\b`)

// remarks matches comments of shells.
var remarks = regexp.MustCompile(`(?m)(?:^|\s)#.*$`)

// detaches returns the command in a shell script that starts another program and does not wait for it. It returns ""
// if the script has no such command.
func detaches(text string) string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	if text = strings.TrimSpace(remarks.ReplaceAllString(text, "")); waits.MatchString(text) {
		return ""
	}
	for _, d := range detaching {
		if d.by.MatchString(text) {
			return d.name
		}
	}
	if background.MatchString(inQuotes.ReplaceAllString(text, "x")) || quotedEnd.MatchString(text) {
		return "&"
	}
	return ""
}

// isShell reports whether a file is a shell script, by its first line or its name.
func isShell(file string, text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) {
		return shells.Match(first)
	}
	ending := filepath.Ext(file)
	return ending == ".sh" || ending == ".bash"
}

var shells = regexp.MustCompile(`\b(?:ba|da|z|k)?sh\b`)

// mostScript bounds the size of a script that is read, in bytes.
const mostScript = 64 << 10

// startsOthers returns a warning if the program of a job starts another program and ends before it; empty otherwise.
func startsOthers(j *launch.Job) string {
	by := ""
	if len(j.Argv) > 2 && strings.HasPrefix(j.Argv[1], "-") && strings.HasSuffix(j.Argv[1], "c") { // sh -c
		by = detaches(j.Argv[2])
	} else if len(j.Argv) > 0 {
		by = detaches(strings.Join(j.Argv, " "))
	}
	for i := 0; by == "" && i < min(len(j.Argv), 3); i++ {
		switch text := script(j.Dir, j.Argv[i]); {
		case text == nil:
		case isShell(j.Argv[i], text):
			by = detaches(string(text))
		case filepath.Ext(j.Argv[i]) == ".py":
			by = handsOver(text)
		}
	}
	if by == "" {
		return ""
	}
	return fmt.Sprintf("its program starts another by %s, and ended before it: what it did after that is not known, and "+
		"what was still running on this machine was ended with it", by)
}

// script returns the content of a script of a job; nil if the name is not the name of a file.
func script(dir, name string) []byte {
	if !strings.Contains(name, "/") && filepath.Ext(name) == "" {
		return nil // a command
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	f, err := folder.Open(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostScript))
	if err != nil {
		return nil
	}
	return text
}

// shellCalls matches lines of a Python program that run a shell command or another program.
var shellCalls = regexp.MustCompile(`(?m)^[^#\n]*(?:os\.system|os\.popen|subprocess\.\w+|Popen|check_call|` +
	`check_output)\s*\((.*)$`)

// lists rewrites a Python list of words as shell text: ["sbatch", "run.sh"] becomes sbatch run.sh.
var lists = strings.NewReplacer(`", "`, " ", `', '`, " ", "[", " ")

// detached returns the command in a program that starts another program and does not wait for it. It returns "" if
// the program has no such command.
func detached(file string, raw []byte) string {
	if isShell(file, raw) {
		return detaches(string(raw))
	}
	if by := handsOver(raw); by != "" {
		return by
	}
	for _, d := range pythonDetaching {
		if d.by.Match(raw) && !popenWaits.Match(raw) {
			return d.name
		}
	}
	if popens.Match(raw) && !popenWaits.Match(raw) {
		return "subprocess.Popen"
	}
	return ""
}

// handsOver returns the command in a Python program that starts another program by a shell or a batch system and does
// not wait for it; empty without one.
func handsOver(raw []byte) string {
	for _, call := range shellCalls.FindAllSubmatch(raw, -1) {
		if by := detaches(lists.Replace(string(call[1]))); by != "" {
			return by
		}
	}
	if submits.Match(raw) && !results.Match(raw) {
		return "submitit"
	}
	return ""
}

// Patterns of Python programs that submit jobs to Slurm by the package submitit, and wait for their results.
var (
	submits = regexp.MustCompile(`(?s)(?:import|from)\s+submitit\b.*\.(?:submit|map_array)\(`)
	results = regexp.MustCompile(`\.results?\(|\.wait\(|\bas_completed\(`)
)

// pythonDetaching lists calls of Python that start a program which outlives its parent.
var pythonDetaching = []struct {
	name string
	by   *regexp.Regexp
}{
	{"os.fork", regexp.MustCompile(`(?s)^.*\bos\.fork\(.*\bos\.setsid\(|\bos\.fork\(.*\bos\._exit\(`)},
	{"os.P_NOWAIT", regexp.MustCompile(`(?m)^[^#\n]*\bos\.spawn\w+\(\s*os\.P_NOWAIT`)},
	{"daemon.DaemonContext", regexp.MustCompile(`(?m)^[^#\n]*\bDaemonContext\(`)},
}

// Patterns of Python programs: the first for starting another program, the second for waiting for it or reading its
// output.
var (
	popens     = regexp.MustCompile(`(?m)^[^#\n]*\bPopen\(`)
	popenWaits = regexp.MustCompile(`\.(?:wait|communicate|poll|stdout|stderr|returncode)\b|` +
		`\bwith\s[^\n]*Popen\(|\bos\.wait`)
)
