package analysis

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
)

// Field is a set of variants that are compared in one setting.
type Field struct {
	Setting  []record.Setting
	Variants []Variant
	// axes are the compared axes, "policy" and "hardware" included; without any, policies are compared.
	axes []string
}

// Where names the setting of a field: "load=0.7", "on machine w".
func (f Field) Where(p record.Plan) string {
	settings, workload, hardware := f.parts(p)
	return strings.TrimSpace(settings + placed(p, workload, hardware))
}

// parts are the words of Where: policy and axes, workload, and hardware.
func (f Field) parts(p record.Plan) (settings, workload, hardware string) {
	v := f.Variants[0]
	var parts []string
	if f.axes != nil && !slices.Contains(f.axes, "policy") && len(p.Policies) > 1 {
		parts = append(parts, v.Policy)
	}
	if len(f.Setting) > 0 {
		parts = append(parts, record.AxesLabel(f.Setting))
	}
	workload, hardware = v.Workload, v.Hardware
	if slices.Contains(f.axes, "workload") {
		workload = ""
	}
	if slices.Contains(f.axes, "hardware") {
		hardware = ""
	}
	return strings.Join(parts, " "), workload, hardware
}

// FieldTitles are the titles of a column or panel for each of several fields: the parts in which they differ. The first
// has the metric as well.
func (q *Question) FieldTitles(p record.Plan, metric string) []string {
	rows, out := make([][3]string, len(q.Fields)), make([]string, len(q.Fields))
	for k, f := range q.Fields {
		rows[k][0], rows[k][1], rows[k][2] = f.parts(p)
	}
	for k := range rows {
		var parts []string
		for i, part := range rows[k] {
			if part != "" && slices.ContainsFunc(rows, func(r [3]string) bool { return r[i] != part }) {
				parts = append(parts, part)
			}
		}
		out[k] = strings.Join(parts, " ")
	}
	out[0] = strings.TrimSpace(metric + " " + out[0])
	return out
}

// fields returns the fields of a comparison.
func fields(variants []Variant, c record.Compare) (out []Field) {
	named := schema.Each(c.At, func(s record.Setting) string { return s.Name })
	if c.At == nil {
		for _, f := range Fields(variants, nil) {
			if slices.ContainsFunc(f.Variants, func(v Variant) bool { return v.Policy == c.Baseline }) {
				out = append(out, f)
			}
		}
		return out
	}
	for _, base := range variants {
		if c.Baseline != "" && base.Policy != c.Baseline || !base.at(c.At) {
			continue
		}
		f := Field{axes: named, Variants: append([]Variant{base}, elsewhere(base, variants, c.At)...)}
		for _, s := range base.Axes {
			if !slices.Contains(c.At, s) {
				f.Setting = append(f.Setting, s)
			}
		}
		out = append(out, f)
	}
	return out
}

// Fields divides variants into groups with the same jobs on the same hardware, at the same values of the axes that
// several policies read and that are not compared. A variant that does not read such an axis is in all fields.
func Fields(variants []Variant, compared []string) (out []Field) {
	type place struct{ workload, hardware, setting string }
	axes := commonAxes(variants, compared)
	known := map[place]bool{}
	for _, first := range variants {
		s := settings(first, axes)
		p := place{first.Workload, first.Hardware, record.AxesLabel(s)}
		if len(s) < len(axes) || known[p] {
			continue
		}
		known[p] = true
		f := Field{Setting: s}
		for _, v := range variants {
			if v.Workload == p.workload && v.Hardware == p.hardware && agree(s, settings(v, axes)) {
				f.Variants = append(f.Variants, v)
			}
		}
		out = append(out, f)
	}
	return out
}

// commonAxes returns the axes that several policies read, or the only one does, and that are not compared. They are
// taken from the variant with the most of them.
func commonAxes(variants []Variant, compared []string) (most []string) {
	readers := map[string][]string{}
	var policies []string
	for _, v := range variants {
		policies = schema.AddOnce(policies, v.Policy)
		for _, a := range v.Axes {
			readers[a.Name] = schema.AddOnce(readers[a.Name], v.Policy)
		}
	}
	for _, v := range variants {
		var names []string
		for _, a := range v.Axes {
			if len(readers[a.Name]) >= min(2, len(policies)) && !slices.Contains(compared, a.Name) {
				names = append(names, a.Name)
			}
		}
		if len(names) > len(most) {
			most = names
		}
	}
	return most
}

// settings are the values of a variant on some axes.
func settings(v Variant, axes []string) (out []record.Setting) {
	for _, a := range v.Axes {
		if slices.Contains(axes, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// name names a variant by the values that the others of its field do not share.
func (f Field) name(v Variant) string {
	var parts []string
	if f.axes == nil || slices.Contains(f.axes, "policy") {
		parts = append(parts, v.Policy)
	}
	own := slices.DeleteFunc(slices.Clone(v.Axes), func(s record.Setting) bool { return slices.Contains(f.Setting, s) })
	if label := record.AxesLabel(own); label != "" {
		parts = append(parts, label)
	}
	if slices.Contains(f.axes, "hardware") {
		parts = append(parts, v.Hardware)
	}
	if slices.Contains(f.axes, "workload") {
		parts = append(parts, v.Workload)
	}
	if len(parts) == 0 {
		return v.Policy
	}
	return strings.Join(parts, " ")
}
