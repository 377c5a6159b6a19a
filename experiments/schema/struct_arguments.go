package schema

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Field is a field of a struct that an argument fills. The tags of the field declare the argument:
//
//   - arg: the name, then "required", "positive", "empty" (a list may be empty), "sensitive" (values may be sensitive)
//   - type: one of typeNames, if the field's Go type does not determine it
//   - min, max: numbers, or names in bounds
//   - default: a value, without quotes
//   - allowed: the allowed texts
//   - least: the smallest duration above 0s
//   - needs: an argument without which this one has no effect
//
// The comment of the field documents the argument. Its paragraph "Default: …" describes a default that is not a
// constant, and its indented lines are the example.
type Field struct {
	Arg
	Index []int
}

// goTypes maps the Go types of fields to types of arguments.
var goTypes = map[reflect.Type]Type{
	reflect.TypeFor[string](): String, reflect.TypeFor[int](): Integer, reflect.TypeFor[float64](): Number,
	reflect.TypeFor[bool](): Bool, reflect.TypeFor[time.Duration](): Duration, reflect.TypeFor[int64](): Size,
	reflect.TypeFor[[]string](): Strings, reflect.TypeFor[[]int](): Integers,
	reflect.TypeFor[[]time.Duration](): Instants, reflect.TypeFor[[]Setting](): StringMap,
	reflect.TypeFor[map[string]string](): StringMap,
}

// typeNames are the types of arguments by their names in tags.
var typeNames = map[string]Type{
	"any": Any, "baseline": Baseline, "bound": Bound, "condition": Condition, "gap": Gap,
	"integer": Integer, "jobs": JobMap, "life": Life,
	"price": Price, "rates": Rates, "row": OfRow, "share": Share, "speedup": SpeedUp, "thread times": ThreadTimes,
	"threads": Threads, "type": TypeName, "values": Values,
	"job": JobRef, "workload": WorkloadRef, "hardware": HardwareRef, "policy": PolicyRef,
}

// bounds are the named bounds in tags.
var bounds = map[string]float64{"threads": MaxThreads, "nodes": MaxNodes, "jobs": MaxJobs, "epochs": MaxEpochs}

// fields caches the results of Fields, by type.
var fields sync.Map

// Fields returns the fields that arguments fill, of a struct and of structs embedded in it.
func Fields(of reflect.Type) []Field {
	if list, ok := fields.Load(of); ok {
		return list.([]Field)
	}
	var list []Field
	for i := range of.NumField() {
		f := of.Field(i)
		name, isArg := f.Tag.Lookup("arg")
		switch {
		case isArg:
			list = append(list, Field{Arg: argOf(f, name, comments[of.String()+"."+f.Name]), Index: f.Index})
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			for _, inner := range Fields(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				list = append(list, inner)
			}
		}
	}
	fields.Store(of, list)
	return list
}

// argOf makes an argument from the tags and the comment of a field.
func argOf(f reflect.StructField, names string, c comment) Arg {
	name, options, _ := strings.Cut(names, ",")
	has := func(option string) bool { return strings.Contains(","+options+",", ","+option+",") }
	arg := Arg{
		Name: name, Doc: c.doc, DefaultDoc: c.otherwise, Required: has("required"), Positive: has("positive"),
		MayBeEmpty: has("empty"), Sensitive: has("sensitive"),
		Min: boundOf(f.Tag.Get("min")), Max: boundOf(f.Tag.Get("max")),
	}
	_, arg.Example, _ = strings.Cut(c.example, " = ")
	of := f.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	arg.Type = cmp.Or(typeNames[f.Tag.Get("type")], goTypes[of])
	if arg.Type == "" && of.Kind() == reflect.String {
		arg.Type = String
	}
	if allowed := f.Tag.Get("allowed"); allowed != "" {
		arg.Allowed = strings.Fields(allowed)
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		if arg.Default = text; arg.Type == String || arg.Type == Duration || arg.Type == Gap {
			arg.Default = strconv.Quote(text)
		}
	}
	arg.Needs = f.Tag.Get("needs")
	arg.Least, _ = time.ParseDuration(f.Tag.Get("least"))
	if arg.Type == "" {
		panic(fmt.Sprintf("the argument %s has no type", arg.Name))
	}
	return arg
}

func boundOf(text string) *float64 {
	if text == "" {
		return nil
	}
	v, named := bounds[text]
	if !named {
		v, _ = strconv.ParseFloat(text, 64)
	}
	return &v
}

// BlockFor completes the description of a block whose arguments fill a struct. The documentation and the example come
// from the struct's comment, without its first paragraph, which is for readers of the code.
func BlockFor[T any](b Block) *Block {
	of := reflect.TypeFor[T]()
	c := comments[of.String()]
	if b.Doc == "" {
		_, b.Doc, _ = strings.Cut(c.doc, "\n\n")
	}
	b.Example = c.example
	b.Args = append(Args[T](), b.Args...)
	return &b
}

// Args returns the arguments that fill a struct.
func Args[T any]() []Arg {
	return Each(Fields(reflect.TypeFor[T]()), func(f Field) Arg { return f.Arg })
}

// Described returns the arguments that fill a struct; source has the Go file with its comments.
func Described[T any](source embed.FS) []Arg {
	pkg, _, _ := strings.Cut(reflect.TypeFor[T]().String(), ".")
	Document(pkg, source)
	return Args[T]()
}

// Fill sets the fields of a struct to values by argument name. A reference becomes the name of its target.
func Fill(into any, values map[string]any) {
	to := reflect.ValueOf(into).Elem()
	for _, f := range Fields(to.Type()) {
		value, ok := values[f.Name]
		if !ok {
			continue
		}
		if reference, is := value.(interface{ Target() string }); is {
			value = reference.Target()
		}
		field, v := to.FieldByIndex(f.Index), reflect.ValueOf(value)
		if field.Kind() == reflect.Pointer && v.Type() != field.Type() {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		field.Set(v.Convert(field.Type()))
	}
}

// ReplaceWords replaces words in braces, such as "{metrics}", in the documentation of a block and its arguments.
func (b *Block) ReplaceWords(pairs ...string) *Block {
	r := strings.NewReplacer(pairs...)
	b.Doc = r.Replace(b.Doc)
	for i := range b.Args {
		a := &b.Args[i]
		a.Doc, a.DefaultDoc, a.Example = r.Replace(a.Doc), r.Replace(a.DefaultDoc), r.Replace(a.Example)
	}
	return b
}

// comment is the comment of a struct or a field, divided into documentation, description of the default, and example.
type comment struct{ doc, otherwise, example string }

// comments has the comments of structs by names such as "experiments.Job", and of fields by names such as
// "experiments.Job.Epochs".
var comments = map[string]comment{}

// Document reads the comments of structs in the Go files of a package. It runs at each start of a program, so it
// splits only lines that may declare a struct or an argument.
func Document(pkg string, sources embed.FS) bool {
	files, _ := fs.Glob(sources, "*.go")
	for _, name := range files {
		text, _ := fs.ReadFile(sources, name)
		of, lines := "", []string(nil)
		for line := range bytes.Lines(text) {
			if comment, ok := bytes.CutPrefix(bytes.TrimLeft(line, "\t"), []byte("//")); ok {
				lines = append(lines, string(bytes.TrimRight(comment, "\r\n")))
				continue
			}
			if bytes.HasPrefix(line, []byte("type ")) {
				if words := strings.Fields(string(line)); len(words) > 2 && strings.HasPrefix(words[2], "struct") {
					of = pkg + "." + words[1]
					comments[of] = commentOf(lines)
				}
			} else if bytes.Contains(line, []byte("`arg:\"")) {
				comments[of+"."+strings.Fields(string(line))[0]] = commentOf(lines)
			}
			lines = lines[:0]
		}
	}
	return true
}

// commentOf divides a comment into its parts.
func commentOf(lines []string) (c comment) {
	var paragraphs, example []string
	begun := false
	for _, line := range lines {
		code, indented := strings.CutPrefix(line, "\t")
		line = strings.TrimSpace(line)
		switch {
		case indented || line == "" && len(example) > 0:
			example = append(example, code)
		case line == "":
			begun = false
		case begun && !strings.HasPrefix(line, "- "):
			paragraphs[len(paragraphs)-1] += " " + line
		case begun:
			paragraphs[len(paragraphs)-1] += "\n" + line
		default:
			paragraphs, begun = append(paragraphs, line), true
		}
	}
	if last := len(paragraphs) - 1; last >= 0 {
		if text, ok := strings.CutPrefix(paragraphs[last], "Default: "); ok {
			c.otherwise, paragraphs = strings.TrimSuffix(text, "."), paragraphs[:last]
		}
	}
	c.doc, c.example = strings.Join(paragraphs, "\n\n"), strings.TrimSpace(strings.Join(example, "\n"))
	return c
}
