package editor

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// object is a JSON object of a schema.
type object = map[string]any

// Regular expressions for texts. Any argument can be an expression, written in a template: "${…}".
const (
	templatePattern = `\$\{|%\{`
	durationPattern = `^(\d+(\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h|d)`
	labelPattern    = `^[A-Za-z_][A-Za-z0-9_-]*$`
)

// JSONSchema returns a JSON schema (draft 2020-12) of experiment files in JSON syntax (.hcl.json). It is generated from
// the tables that the decoder reads. It accepts mistakes that only evaluation finds, such as a reference to a missing
// job.
func JSONSchema(language *schema.Block) map[string]any {
	defs := definitions{known: map[*schema.Block]string{}, all: object{}}
	s := defs.body(language, "", "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "An experiment of tfexp in JSON syntax"
	s["properties"].(object)["$schema"] = object{"type": "string"}
	s["$defs"] = defs.all
	return s
}

// definitions collects the schemas of block bodies. The key is the path of block names.
type definitions struct {
	known map[*schema.Block]string
	all   object
}

// of returns a reference to the schema of a block's body. It creates the schema at the first call.
func (d *definitions) of(b *schema.Block, label, path string) object {
	if label == "" && d.known[b] != "" {
		path = d.known[b]
	}
	if d.all[path] == nil {
		if label == "" {
			d.known[b] = path
		}
		d.all[path] = true // set before body, because a block can contain itself
		d.all[path] = d.body(b, label, path)
	}
	return object{"$ref": "#/$defs/" + path}
}

// body returns the schema of the arguments and blocks in a block with this label.
func (d *definitions) body(b *schema.Block, label, path string) object {
	properties := object{"//": object{"description": "A comment."}}
	var required []string
	for _, a := range b.ArgsFor(label) {
		properties[a.Name] = argument(&a)
		if a.Required {
			required = append(required, a.Name)
		}
	}
	for _, inner := range b.Blocks {
		properties[inner.Name] = d.block(inner, path)
		if inner.Required {
			required = append(required, inner.Name)
		}
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if b.Free != nil {
		s["additionalProperties"] = argument(b.Free)
	}
	if required != nil {
		s["required"] = required
	}
	return s
}

// block returns the schema of the value of a block's name: a body, an object of bodies by label, or a list of these.
func (d *definitions) block(b *schema.Block, parent string) object {
	path := strings.TrimPrefix(parent+"."+b.Name, ".")
	if b.Label == "" {
		return oneOrMore(d.of(b, "", path), b.Doc)
	}
	properties := object{"//": object{}}
	one := object{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1}
	labels := slices.Concat(b.Labels, b.Offered)
	if labels == nil {
		for _, l := range b.ByLabel {
			labels = append(labels, l.Label)
		}
	}
	for _, label := range labels {
		own := ""
		if len(b.ByLabel) > 0 {
			own = label
		}
		properties[label] = oneOrMore(d.of(b, own, strings.TrimSuffix(path+"."+own, ".")), "")
	}
	if labels == nil {
		one["patternProperties"] = object{labelPattern: oneOrMore(d.of(b, "", path), "")}
	}
	return oneOrMore(one, b.Doc)
}

func oneOrMore(s object, doc string) object {
	either := object{"anyOf": []any{s, object{"type": "array", "items": s}}}
	if doc != "" {
		either["description"] = doc
	}
	return either
}

// argument returns the schema of an argument's value: a literal of its type, or a text with an expression.
func argument(a *schema.Arg) object {
	s := object{"description": a.Doc}
	if literal := literalOf(a); literal != nil {
		template := object{"type": "string", "pattern": templatePattern}
		s["anyOf"] = append(literal, template)
	}
	if a.Default != "" {
		s["description"] = a.Doc + " Default: " + a.Default + "."
	}
	return s
}

// literalOf returns the schemas of an argument's literals; nil if every value is allowed.
func literalOf(a *schema.Arg) []any {
	text := object{"type": "string"}
	number := object{"type": "number"}
	list := func(of object) object {
		s := object{"type": "array", "items": object{"anyOf": []any{of,
			object{"type": "string", "pattern": templatePattern}}}}
		if !a.MayBeEmpty {
			s["minItems"] = 1
		}
		return s
	}
	numeric := func(kind string) object {
		s := object{"type": kind}
		if a.Min != nil {
			s["minimum"] = *a.Min
		}
		if a.Max != nil {
			s["maximum"] = *a.Max
		}
		return s
	}
	switch a.Type {
	case schema.String:
		if len(a.Allowed) > 0 {
			return []any{object{"enum": a.Allowed}}
		}
		return []any{text}
	case schema.Integer:
		return []any{numeric("integer")}
	case schema.Number:
		return []any{numeric("number")}
	case schema.Bool:
		return []any{object{"type": "boolean"}}
	case schema.Duration:
		return []any{object{"type": "string", "pattern": durationPattern}}
	case schema.Size:
		return []any{text, number}
	case schema.Strings:
		of := text
		if len(a.Allowed) > 0 {
			of = object{"enum": a.Allowed}
		}
		return []any{list(of)}
	case schema.Integers:
		return []any{list(numeric("integer"))}
	case schema.StringMap:
		return []any{object{"type": "object", "additionalProperties": object{"type": []string{"string", "number",
			"boolean"}}}}
	case schema.Values:
		return []any{object{"type": "array"}}
	case schema.Threads:
		keys := object{}
		for _, k := range a.Keys {
			keys[k.Name] = argument(&k)
		}
		return []any{numeric("integer"), object{"type": "object", "properties": keys, "additionalProperties": false}}
	case schema.TypeName, schema.Share, schema.Bound, schema.Gap, schema.Life, schema.Price:
		return []any{text, number}
	case schema.Instants:
		return []any{text, object{"type": "array", "items": text}}
	case schema.Estimates:
		return []any{text}
	case schema.Baseline:
		return []any{object{"type": "string", "pattern": `^\$\{|^(` + strings.Join(a.Type.ReferenceKinds(), "|") + `)\.`}, object{"type": "object"}}
	case schema.ThreadTimes, schema.SpeedUp, schema.Rates, schema.JobMap:
		return []any{object{"type": "object"}}
	}
	if kind := a.Type.ReferenceKind(); kind != "" {
		// "job.long" is a text here: references need a template, "${job.long}".
		return []any{object{"type": "string", "pattern": `^\$\{|^` + strings.ToLower(kind) + `\.`}}
	}
	return nil
}
