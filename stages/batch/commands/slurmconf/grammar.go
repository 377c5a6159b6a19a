package slurmconf

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// setting is a name with a value and its position.
type setting struct {
	name, value string
	file        string
	line        int
}

// assignment matches the first NAME=VALUE of a text, as Slurm does: with white space around the operator, and a value
// without white space, or in quotes.
var assignment = regexp.MustCompile(`^\s*([[:alnum:]_.]+)\s*([-+*/]?)=(\s*)(?:"([^"]*)"|(\S+))(?:\s|$)`)

// unset matches a name without a value at the end of a line.
var unset = regexp.MustCompile(`^\s*([[:alnum:]_.]+)\s*[-+*/]?=\s*(?:""\s*)?$`)

// read calls add with the statements of a configuration file, and of the files that it includes.
func (c *SlurmConf) read(path string, add func(at setting, text string)) error {
	c.reading = append(c.reading, path)
	defer func() { c.reading = c.reading[:len(c.reading)-1] }()
	return eachStatement(path, func(n int, text string) {
		at := setting{file: path, line: n}
		words := strings.Fields(text)
		if len(words) > 1 && strings.EqualFold(words[0], "include") && !strings.HasPrefix(words[1], "=") {
			c.include(at, strings.Trim(words[1], `"`), add)
			return
		}
		add(at, text)
	})
}

// eachStatement calls a function for each line of a configuration that has more than a comment, with the number of its
// first line where it is continued. A character behind a backslash has no special meaning.
func eachStatement(path string, do func(n int, text string)) error {
	text, first := "", 0
	end := func() {
		if strings.TrimSpace(text) != "" {
			do(first, unescape(text))
		}
		text, first = "", 0
	}
	err := eachLine(path, func(n int, one string) {
		if i := comment(one); i >= 0 {
			one = one[:i]
		}
		if first == 0 {
			first = n
		}
		one = strings.TrimRight(one, " \t\r")
		whole := strings.TrimRight(one, `\`)
		if (len(one)-len(whole))%2 == 1 {
			text += one[:len(one)-1]
			return
		}
		text += one
		end()
	})
	end()
	return err
}

// unescape removes backslashes; a character behind one stays.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// comment returns the index at which a comment begins; -1 without a comment. An escaped # does not begin a comment.
func comment(text string) int {
	escaped := false
	for i := range len(text) {
		if text[i] == '#' && !escaped {
			return i
		}
		escaped = text[i] == '\\' && !escaped
	}
	return -1
}

// include reads the file that an Include line names. %c in the name means the name of the cluster. A relative name is
// looked for in the folder of slurm.conf, then in the folder of the including file.
func (c *SlurmConf) include(at setting, name string, add func(at setting, text string)) {
	if strings.Contains(name, "%c") {
		cluster := c.get("ClusterName", "")
		if cluster == "" {
			c.problem(at, "Include %s: %%c is the name of the cluster, so ClusterName= must come before this line", name)
			return
		}
		name = strings.ReplaceAll(name, "%c", strings.ToLower(cluster))
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(c.path), name)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(filepath.Dir(at.file), name)
		}
	}
	if slices.Contains(c.reading, path) {
		c.problem(at, "the file %s is included while it is read: remove the line", path)
	} else if err := c.read(path, add); err != nil {
		c.problem(at, "the included file cannot be read (%v): copy it as well, or remove the line", err)
	}
}

// eachLine calls a function for each line of a file, with its number.
func eachLine(path string, do func(n int, text string)) error {
	return readText(path, func(text io.Reader) error {
		in := bufio.NewScanner(textfile.Unmarked(text))
		in.Buffer(nil, 1<<20)
		for n := 1; in.Scan(); n++ {
			if strings.ContainsRune(in.Text(), 0) {
				return &ConfProblem{path, n, "this is no text file: save it as UTF-8"}
			}
			do(n, in.Text())
		}
		if in.Err() != nil {
			return fmt.Errorf("read %s: %w", path, in.Err())
		}
		return nil
	})
}

// assignments calls put with each NAME=VALUE of a line and its operator: "", "+", "-", "*" or "/".
func (c *SlurmConf) assignments(at setting, text string, put func(s setting, operator string)) {
	text = strings.ReplaceAll(text, "\v", " ") // white space in C, and not in regular expressions of Go
	for strings.TrimSpace(text) != "" {
		at := at
		if m := assignment.FindStringSubmatch(text); m != nil {
			at.name, at.value = m[1], printable(m[4]+m[5])
			if name, _, ok := strings.Cut(m[5], "="); ok && m[3] != "" && known(name) {
				c.problem(at, "%s has no value, and Slurm takes %q for it: write a value, or remove %s", at.name, m[5], at.name)
			} else {
				put(at, m[2])
			}
			text = text[len(m[0]):]
			continue
		}
		if m := unset.FindStringSubmatch(text); m != nil {
			at.name = m[1]
			c.unmodeled(at, at.name+" has no value: it counts as not set")
			put(at, "")
			return
		}
		word := strings.Fields(text)[0]
		advice := ""
		if strings.Contains(word, `"`) {
			advice = ": a quote ends at the end of a value, on the same line"
		}
		c.problem(at, "%q is not NAME=VALUE%s", shorten(word), advice)
		text = strings.TrimLeft(text, " \t")[len(word):]
	}
}

// printable replaces characters that the experiment language cannot hold, as in a text that is not UTF-8, by a question
// mark.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
}

// shorten cuts a text that is too long for a message.
func shorten(word string) string {
	if len(word) > 60 {
		return word[:57] + "..."
	}
	return word
}

// put sets a name of a line to a value. An operator such as += computes the new value from the present one.
func (c *SlurmConf) put(l settingsLine, s setting, operator string) settingsLine {
	i := slices.IndexFunc(l, func(o setting) bool { return strings.EqualFold(o.name, s.name) })
	if operator != "" {
		before := ""
		if i >= 0 {
			before = l[i].value
		}
		value, ok := operate(before, operator, s.value)
		if !ok {
			c.problem(s, "%s %s= %s: neither it nor the value before, %q, may be computed with: write %s=VALUE", s.name,
				operator, s.value, before, s.name)
			return l
		}
		s.value = value
	}
	if i < 0 {
		return append(l, s)
	}
	if before := l[i]; operator == "" && before.value != s.value && !idle(s.name) {
		c.unmodeled(s, fmt.Sprintf("%s=%s replaces %s of line %d, as in Slurm", s.name, s.value, before.value, before.line))
	}
	l[i] = s
	return l
}

// operate computes NAME+=VALUE and the like: of numbers, or of lists with commas.
func operate(before, operator, value string) (string, bool) {
	a, err1 := strconv.Atoi(before)
	b, err2 := strconv.Atoi(value)
	if (err1 == nil || before == "") && err2 == nil {
		switch {
		case operator == "+":
			a += b
		case operator == "-":
			a -= b
		case operator == "*":
			a *= b
		case b != 0:
			a /= b
		default:
			return "", false
		}
		return strconv.Itoa(a), true
	}
	items := strings.Split(before, ",")
	if before == "" {
		items = nil
	}
	switch operator {
	case "+":
		return strings.Join(append(items, value), ","), true
	case "-":
		gone := strings.Split(value, ",")
		return strings.Join(slices.DeleteFunc(items, func(s string) bool { return slices.Contains(gone, s) }), ","), true
	}
	return "", false
}
