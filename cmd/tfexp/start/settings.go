package start

import (
	"bufio"
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Setting is an option of a program that a search can vary: the values that it can have, or a range.
type Setting struct {
	// Name is the name of the setting in the experiment. Option is the text before the value on the command line:
	// "--lr", or "lr=" for an option and value in one word.
	Name, Option string
	Values       []string // as literals of the experiment language
	Min, Max     string
	Log          bool
}

// mostSettings bounds the settings of the first search.
const mostSettings = 8

// Names of options that a search does not vary; of integers that it doubles; of numbers below one.
var (
	notSearched = regexp.MustCompile(`(?i)(?:^|_)(?:seed|epochs?|steps?|iters?|iterations?|workers?|threads?|gpus?|rank|port|nodes?|world|interval|freq|` +
		`frequency|every|log|print|save|patience|version|device|devices|local|classes|num_classes|start|resume|limit|max_samples|samples|` +
		`subset|verbose|verbosity|year|id|timeout|precision|bits|split|target)(?:_|$)`)
	fraction = regexp.MustCompile(`(?i)dropout|momentum|beta|ratio|smoothing|gamma|decay_rate|mixup|cutmix|prob`)
	settable = regexp.MustCompile(`\.add_argument\s*\(|\bclick\.option\s*\(|@option\s*\(|\bflags\.DEFINE_(?:float|integer|enum)\s*\(`)
	keyword  = regexp.MustCompile(`(?s)^\s*(\w+)\s*=\s*(.*)$`)
	literal  = regexp.MustCompile(`^\s*["']([^"'\\]*)["']\s*$`)
	amounts  = regexp.MustCompile(`^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$`)
	ranged   = regexp.MustCompile(`(?:Float|Int)Range\((.*)\)$`)
	plainKey = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

// settingsOf returns the options that a program reads by argparse, click or absl, or has by its parameters. The option
// for its epochs or steps (work) is not among them.
func settingsOf(raw []byte, work string) []Setting {
	var list []Setting
	source := string(raw)
	for _, at := range settable.FindAllStringIndex(source, -1) {
		args := arguments(source[at[1]:])
		s, ok := settingOf(args, strings.Contains(source[at[0]:at[1]], "DEFINE"))
		if ok && s.Option != work && !slices.ContainsFunc(list, func(o Setting) bool { return o.Name == s.Name }) {
			list = append(list, s)
		}
	}
	for _, o := range parameters(raw) {
		s := Setting{Name: o.name, Option: o.option}
		known := func(other Setting) bool { return other.Name == s.Name }
		if o.option != work && s.around(o.value, o.kind) && !slices.ContainsFunc(list, known) {
			list = append(list, s)
		}
	}
	return list[:min(len(list), mostSettings)]
}

// arguments returns the arguments of a Python call. source begins after the opening parenthesis.
func arguments(source string) (args []string) {
	depth, begin := 0, 0
	for i := 0; i < len(source); i++ {
		switch c := source[i]; c {
		case '"', '\'':
			for i++; i < len(source) && source[i] != c && source[i] != '\n'; i++ {
				if source[i] == '\\' {
					i++
				}
			}
		case '#':
			for i+1 < len(source) && source[i+1] != '\n' {
				i++
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return append(args, source[begin:i])
			}
		case ',':
			if depth == 0 {
				args, begin = append(args, source[begin:i]), i+1
			}
		}
	}
	return nil // the closing parenthesis is missing
}

// settingOf is the setting of an option with these arguments. A flag of absl has its name and its value first.
func settingOf(args []string, flag bool) (s Setting, ok bool) {
	named := map[string]string{}
	var plain []string
	for _, a := range args {
		if m := keyword.FindStringSubmatch(a); m != nil {
			named[m[1]] = strings.TrimSpace(m[2])
			continue
		}
		plain = append(plain, a)
	}
	if flag && len(plain) > 1 {
		named["default"] = strings.TrimSpace(plain[1])
		if len(plain) > 2 && strings.HasPrefix(strings.TrimSpace(plain[2]), "[") {
			named["choices"] = strings.TrimSpace(plain[2])
		}
		plain = plain[:1]
	}
	for _, a := range plain {
		m := literal.FindStringSubmatch(a)
		if m != nil && flag {
			s.Option = "--" + m[1]
		}
		if m != nil && strings.HasPrefix(m[1], "--") && s.Option == "" {
			s.Option = m[1]
		}
	}
	if s.Option == "" || named["action"] != "" || named["is_flag"] != "" || named["nargs"] != "" ||
		named["multiple"] != "" ||
		strings.Contains(s.Option, "/") {
		return s, false
	}
	s.Name = strings.ReplaceAll(strings.TrimLeft(s.Option, "-"), "-", "_")
	choices := named["choices"]
	if i := strings.Index(named["type"], "Choice("); i >= 0 {
		choices = strings.TrimSuffix(named["type"][i+len("Choice("):], ")")
	}
	return s, s.choose(choices) || s.between(named["type"]) || s.around(named["default"], named["type"])
}

// choose sets the values of a setting from a list in Python; false without values.
func (s *Setting) choose(list string) bool {
	list = strings.TrimSpace(list)
	if !strings.HasPrefix(list, "[") && !strings.HasPrefix(list, "(") {
		return false
	}
	for _, item := range arguments(list[1:]) {
		item = strings.TrimSpace(item)
		switch m := literal.FindStringSubmatch(item); {
		case m != nil:
			s.Values = append(s.Values, strconv.Quote(m[1]))
		case amounts.MatchString(item):
			s.Values = append(s.Values, plainLiteral(item))
		}
	}
	return len(s.Values) > 1
}

// between sets the range of a setting from a range type of click; false for other types.
func (s *Setting) between(kind string) bool {
	m := ranged.FindStringSubmatch(kind)
	if m == nil {
		return false
	}
	var ends []string
	for _, a := range arguments(m[1] + ")") {
		if k := keyword.FindStringSubmatch(a); k != nil && (k[1] == "min" || k[1] == "max") {
			a = k[2]
		}
		if a = strings.TrimSpace(a); amounts.MatchString(a) {
			ends = append(ends, plainLiteral(a))
		}
	}
	if len(ends) != 2 || notSearched.MatchString(s.Name) {
		return false
	}
	s.Min, s.Max = ends[0], ends[1]
	return true
}

// around sets values around the default of an option. It returns false if the default is not a number above zero, or if
// the option is no setting.
func (s *Setting) around(present, kind string) bool {
	text := strings.ReplaceAll(present, "_", "")
	v, err := strconv.ParseFloat(text, 64)
	if !amounts.MatchString(present) || err != nil || !(v > 0) || math.IsInf(v, 0) || notSearched.MatchString(s.Name) {
		return false
	}
	whole := !strings.ContainsAny(text, ".eE") && !strings.Contains(kind, "float")
	shown := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	switch {
	case whole && v < 2, v > 1e9:
		return false
	case whole:
		half := max(int(v)/2, 1)
		s.Values = []string{strconv.Itoa(half), strconv.Itoa(int(v)), strconv.Itoa(2 * int(v))}
	case fraction.MatchString(s.Name) && v < 1:
		s.Min, s.Max = "0", "0.99"
		if v < 0.5 {
			s.Max = shown(2 * v)
		}
	default:
		s.Min, s.Max, s.Log = shown(v/10), shown(v*10), true
	}
	return true
}

// plainLiteral writes a Python number as the experiment language has it.
func plainLiteral(number string) string {
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// hydraConfig matches the call by which a program reads its configuration with Hydra.
var hydraConfig = regexp.MustCompile(`(?s)@hydra\.main\(([^)]*)\)`)

// HydraConfig returns the path of the configuration that a program reads by Hydra, relative to the program; empty
// without one.
func HydraConfig(raw []byte) string {
	m := hydraConfig.FindSubmatch(raw)
	if m == nil {
		return ""
	}
	folder, name := ".", "config"
	for _, a := range arguments(string(m[1]) + ")") {
		k := keyword.FindStringSubmatch(a)
		if k == nil {
			continue
		}
		switch v := literal.FindStringSubmatch(k[2]); {
		case v == nil:
		case k[1] == "config_path":
			folder = v[1]
		case k[1] == "config_name":
			name = strings.TrimSuffix(v[1], ".yaml")
		}
	}
	return folder + "/" + name + ".yaml"
}

// SettingsOfYAML returns the settings in a configuration of plain keys and values, one a line.
func SettingsOfYAML(raw []byte) []Setting {
	var list []Setting
	eachValue(raw, func(path, key, value string) {
		s := Setting{Name: strings.ReplaceAll(path, ".", "_"), Option: path + "="}
		if !strings.HasPrefix(path, "hydra.") && !notSearched.MatchString(key) && s.around(value, "") {
			list = append(list, s)
		}
	})
	return list[:min(len(list), mostSettings)]
}

// configured sets the option for the number of epochs or steps from a configuration that Hydra reads.
func (p *TrainingProgram) configured(config, source []byte) {
	unit := regexp.MustCompile(`^(?:` + epochs + `)$`)
	if p.Steps {
		unit = regexp.MustCompile(`^(?:` + steps + `)$`)
	}
	eachValue(config, func(path, key, value string) {
		if n, err := strconv.Atoi(value); p.unknownWork() && unit.MatchString(key) && err == nil && n > 0 {
			p.Option, p.Work = path+"=", n
		}
	})
	p.Command = p.command(source)
}

// eachValue calls each for the plain values of a configuration in YAML. For train: {lr: 0.1}, the path is train.lr, and
// the key is lr.
func eachValue(raw []byte, each func(path, key, value string)) {
	type level struct {
		indent int
		key    string
	}
	var above []level
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), " #")
		key, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found || strings.HasPrefix(key, "#") || strings.HasPrefix(key, "-") || !plainKey.MatchString(key) {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for len(above) > 0 && above[len(above)-1].indent >= indent {
			above = above[:len(above)-1]
		}
		if value = strings.TrimSpace(value); value == "" {
			above = append(above, level{indent, key})
			continue
		}
		path := key
		for i := len(above) - 1; i >= 0; i-- {
			path = above[i].key + "." + path
		}
		each(path, key, value)
	}
}
