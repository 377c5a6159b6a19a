package study

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// between matches the characters that separate the parts of a configuration's name.
const between = `[,;&+ _-]+`

var (
	separators = regexp.MustCompile(between)
	named      = regexp.MustCompile(`(?:^|` + between + `)([A-Za-z][A-Za-z0-9_.-]*)=`)
	unitParts  = regexp.MustCompile(`^([A-Za-z]*)([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)$`)
)

// NameSettings sets the settings of the configurations from their names. Each part of a name is the value of one title,
// in order. Without titles, names must have the form "lr=0.1,batch=64" with the same settings in all; otherwise no
// settings are set.
func (s *Study) NameSettings(titles []string) error {
	all := make([][]record.Setting, len(s.Configurations))
	for i, c := range s.Configurations {
		if len(titles) == 0 {
			if all[i] = written(c.Name); len(all[i]) == 0 || !alike(all[i], all[0]) {
				return nil
			}
			continue
		}
		parts := separators.Split(c.Name, -1)
		if len(parts) != len(titles) {
			return fmt.Errorf("the name of the configuration %q has %d parts (%s), and the settings are %d (%s)", c.Name, len(parts),
				strings.Join(parts, ", "), len(titles), strings.Join(titles, ", "))
		}
		for k, title := range titles {
			all[i] = append(all[i], record.Setting{Name: title, Value: parts[k]})
		}
	}
	for i := range all {
		if slices.ContainsFunc(all[:i], func(o []record.Setting) bool { return slices.Equal(o, all[i]) }) {
			return nil // these configurations differ in something that their names do not say
		}
	}
	for i := range all {
		s.Configurations[i].Settings = all[i]
	}
	if len(titles) > 0 {
		s.numbers()
	}
	return nil
}

// written parses the settings in a name such as "lr=0.1_batch=64".
func written(name string) (settings []record.Setting) {
	at := named.FindAllStringSubmatchIndex(name, -1)
	if len(at) == 0 || at[0][0] != 0 {
		return nil
	}
	for i, m := range at {
		end := len(name)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		settings = append(settings, record.Setting{Name: name[m[2]:m[3]], Value: name[m[1]:end]})
	}
	return settings
}

// alike reports whether two lists have settings with the same names.
func alike(a, b []record.Setting) bool {
	return slices.EqualFunc(a, b, func(a, b record.Setting) bool { return a.Name == b.Name && a.Value != "" })
}

// numbers removes letters around the numbers of a setting if all configurations have the same letters: "2ps" becomes
// "2".
func (s *Study) numbers() {
	for k := range s.Configurations[0].Settings {
		var values []string
		var letters [2]string
		for _, c := range s.Configurations {
			m := unitParts.FindStringSubmatch(c.Settings[k].Value)
			if m == nil || len(values) > 0 && letters != [2]string{m[1], m[3]} {
				break
			}
			letters, values = [2]string{m[1], m[3]}, append(values, m[2])
		}
		for i := range values {
			if len(values) == len(s.Configurations) {
				s.Configurations[i].Settings[k].Value = values[i]
			}
		}
	}
}

// heatmap is the kind of picture that shows a metric over two settings.
const heatmap = "heatmap"

// pictures returns the pictures of imported runs. They include heat maps if the configurations differ in two or more
// settings. known are the metrics that at least one run has.
func (s *Study) pictures(known []measure.Metric) (list []record.Plot) {
	for _, kind := range []string{"metrics", "jct", "accuracy"} {
		list = append(list, record.Plot{Kind: kind})
	}
	axes := s.axes()
	if len(axes) < 2 || !slices.Contains(table.PictureNames(), heatmap) {
		return list
	}
	for _, m := range known {
		list = append(list, record.Plot{Kind: heatmap, Metric: m.Name, X: axes[0], Y: axes[1]})
	}
	return list
}

// axes returns the settings with several values. Numerical settings come first, because they have an order.
func (s *Study) axes() (names []string) {
	first := s.Configurations[0].Settings
	var others []string
	for k := range first {
		several, ordered := false, true
		for _, c := range s.Configurations {
			_, err := strconv.ParseFloat(c.Settings[k].Value, 64)
			several, ordered = several || c.Settings[k] != first[k], ordered && err == nil
		}
		switch {
		case several && ordered:
			names = append(names, first[k].Name)
		case several:
			others = append(others, first[k].Name)
		}
	}
	return append(names, others...)
}
