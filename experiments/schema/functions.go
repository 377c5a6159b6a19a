package schema

import (
	_ "embed"
	"regexp"
)

// FunctionTable is a Markdown table of the functions that expressions can call, in the order of the reference. The
// HCL standard library documents the functions without named arguments.
//
//go:embed functions.md
var FunctionTable string

// Functions are the functions in FunctionTable.
var Functions = func() (all []Func) {
	for _, m := range regexp.MustCompile("(?m)^\\| `((\\w+)\\(.*?)` \\| (.*) \\|$").FindAllStringSubmatch(FunctionTable, -1) {
		all = append(all, Func{Name: m[2], Signature: m[1], Doc: m[3]})
	}
	return all
}()

// Facts are the facts of the host that expressions can read.
var Facts = []Fact{
	{Name: "threads", Type: Integer, Doc: "hardware threads that tfexp may use"},
	{Name: "cores", Type: Integer, Doc: "physical cores"},
	{Name: "memory", Type: Size, Doc: "main memory, as a size"},
	{Name: "gpus", Type: Integer, Doc: "NVIDIA GPUs that tfexp may use"},
	{Name: "gpu_type", Type: String, Doc: "model of the GPUs: `NVIDIA A100-SXM4-40GB`; empty without GPUs"},
	{Name: "os", Type: String, Doc: "operating system: `linux`, `darwin`"},
	{Name: "arch", Type: String, Doc: "architecture: `amd64`, `arm64`"},
	{Name: "cpu", Type: String, Doc: "model of the processor"},
	{Name: "name", Type: String, Doc: "host name"},
}
