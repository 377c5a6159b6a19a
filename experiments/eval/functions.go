package eval

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/tfexp/tfexp/experiments/schema"
)

// functions are the functions that expressions can call, by name; package schema documents them.
var functions = map[string]function.Function{
	"exponential": modelFunction("exponential", parameter{name: "mean", article: "the ", span: true}),
	"normal": modelFunction("normal", parameter{name: "mean", article: "the ", span: true},
		parameter{name: "deviation", span: true, mayBeZero: true}),
	"noisy":  modelFunction("noisy", parameter{name: "sigma", most: 10}),
	"online": modelFunction("online", parameter{name: "sigma", most: 10}),
	"amdahl": modelFunction("amdahl", parameter{name: "parallel", most: 1}),
	"usl":    modelFunction("usl", parameter{name: "sigma", most: 1}, parameter{name: "kappa", most: 1}),

	"weibull": modelFunction("weibull", parameter{name: "shape"}, parameter{name: "scale", span: true}),
	"bathtub": modelFunction("bathtub", parameter{name: "A"}, parameter{name: "tau1", span: true},
		parameter{name: "tau2", span: true}, parameter{name: "b", span: true}),
	"survival": fileFunction("survival", "time_s", "survival", "lifetime_s", "revoked", "ended_by"),
	"availability": fileFunction("availability", "time_s", "servers", "available", "first_tick", "ticks", "window",
		"step"),
	"prices":    fileFunction("prices", "time_s", "price"),
	"catalogue": fileFunction("catalogue", "type", "region", "market", "price"),

	"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc,
	"log": stdlib.LogFunc, "max": stdlib.MaxFunc, "min": stdlib.MinFunc,
	"parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc, "signum": stdlib.SignumFunc,

	"chunklist": stdlib.ChunklistFunc, "coalesce": stdlib.CoalesceFunc, "compact": stdlib.CompactFunc,
	"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "distinct": stdlib.DistinctFunc,
	"element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "keys": stdlib.KeysFunc,
	"length": stdlib.LengthFunc, "lookup": stdlib.LookupFunc, "merge": stdlib.MergeFunc,
	"range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc, "setproduct": stdlib.SetProductFunc,
	"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,

	"format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc, "join": stdlib.JoinFunc,
	"jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
	"lower": stdlib.LowerFunc, "regex": stdlib.RegexFunc, "replace": stdlib.ReplaceFunc,
	"split": stdlib.SplitFunc, "strlen": stdlib.StrlenFunc, "substr": stdlib.SubstrFunc,
	"title": stdlib.TitleFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc,
	"trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc,

	"tobool": stdlib.MakeToFunc(cty.Bool), "tonumber": stdlib.MakeToFunc(cty.Number),
	"tostring": stdlib.MakeToFunc(cty.String),
}

// functionNames are the names of the functions, for suggestions, in the order of the reference.
var functionNames = func() []string {
	return schema.Each(schema.Functions, func(f schema.Func) string { return f.Name })
}()
