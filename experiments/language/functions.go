package language

import "github.com/tfexp/tfexp/experiments/schema"

// Functions are the functions that expressions can call, in the order of the
// reference. Those without a note are of the HCL standard library.
var Functions = []schema.Func{
	{
		Name: "exponential", Signature: `exponential("400ms")`,
		Doc: "gaps of a Poisson process with this mean, for `interarrival`",
	},
	{
		Name: "normal", Signature: `normal("1s", "200ms")`,
		Doc: "normally distributed gaps with this mean and standard deviation, never below 0, for `interarrival`",
	},
	{Name: "noisy", Signature: `noisy(0.2)`, Doc: "fitted estimates with a lognormal error, for `estimates`"},
	{
		Name: "online", Signature: `online(0.2)`,
		Doc: "such estimates, corrected by the progress of running jobs, for `estimates`",
	},
	{
		Name: "amdahl", Signature: `amdahl(0.9)`,
		Doc: "Amdahl's law with this parallel part, for `speedup`: 1 / (0.1 + 0.9 / threads)",
	},
	{
		Name: "usl", Signature: `usl(0.05, 0.001)`,
		Doc: "the universal scalability law with contention σ and coherence κ, for `speedup`: n / (1 + σ (n − 1) " +
			"+ κ n (n − 1))",
	},

	{
		Name: "weibull", Signature: `weibull(0.7, "3h")`,
		Doc: "lives with this shape and scale, for `lifetime`: S(t) = exp(−(t / scale)^shape)",
	},
	{
		Name: "bathtub", Signature: `bathtub(0.45, "1h", "48m", "24h")`,
		Doc: "lives of which a part A ends early, with the time constant τ₁, and the rest near b, with τ₂, for " +
			"`lifetime`: F(t) = A (1 − e^(−t/τ₁) + e^((t−b)/τ₂))",
	},
	{
		Name: "survival", Signature: `survival("lives.csv", { zone = "us-east1-b" })`,
		Doc: "the survival curve of a file, for `lifetime`; the map chooses rows",
	},
	{
		Name: "availability", Signature: `availability("zone.csv", {}, { step = "10m" })`,
		Doc: "a record of how many servers could be had, for `lifetime`; the maps choose rows, and name columns",
	},
	{Name: "prices", Signature: `prices("spot.csv")`, Doc: "a price that changes with time, for `price`"},
	{
		Name: "catalogue", Signature: `catalogue("prices.csv")`,
		Doc: "the price of a type of server in a region and a market, for `price`; the maps choose rows, and name columns",
	},

	{Name: "abs", Signature: `abs(-2)`, Doc: "absolute value"},
	{Name: "ceil", Signature: `ceil(1.2)`, Doc: "the next whole number above"},
	{Name: "floor", Signature: `floor(1.8)`, Doc: "the next whole number below"},
	{Name: "log", Signature: `log(16, 2)`, Doc: "logarithm to a base"},
	{Name: "max", Signature: `max(1, 2)`, Doc: "largest of the numbers"},
	{Name: "min", Signature: `min(1, 2)`, Doc: "smallest of the numbers"},
	{Name: "parseint", Signature: `parseint("ff", 16)`, Doc: "number from text in a base"},
	{Name: "pow", Signature: `pow(2, 4)`, Doc: "power"},
	{Name: "signum", Signature: `signum(-3)`, Doc: "-1, 0 or 1"},

	{Name: "chunklist", Signature: `chunklist([1, 2, 3], 2)`, Doc: "list in pieces of a length"},
	{Name: "coalesce", Signature: `coalesce(null, 1)`, Doc: "first value that is not null"},
	{Name: "compact", Signature: `compact(["a", ""])`, Doc: "list without empty strings"},
	{Name: "concat", Signature: `concat([1], [2])`, Doc: "lists one after another"},
	{Name: "contains", Signature: `contains([1, 2], 1)`, Doc: "whether a list has a value"},
	{Name: "distinct", Signature: `distinct([1, 1])`, Doc: "list without repetitions"},
	{Name: "element", Signature: `element([1, 2], 3)`, Doc: "element by index, which wraps around"},
	{Name: "flatten", Signature: `flatten([[1], [2]])`, Doc: "nested lists as one"},
	{Name: "keys", Signature: `keys({ a = 1 })`, Doc: "keys of a map, sorted"},
	{Name: "length", Signature: `length([1, 2])`, Doc: "number of elements"},
	{Name: "lookup", Signature: `lookup({ a = 1 }, "b", 0)`, Doc: "value of a key, or a default"},
	{Name: "merge", Signature: `merge({ a = 1 }, { b = 2 })`, Doc: "maps as one; later ones win"},
	{Name: "range", Signature: `range(1, 5)`, Doc: "numbers from, up to but without, in steps; at most 1024"},
	{Name: "reverse", Signature: `reverse([1, 2])`, Doc: "list backwards"},
	{Name: "setproduct", Signature: `setproduct([1, 2], [3])`, Doc: "all combinations"},
	{Name: "slice", Signature: `slice([1, 2, 3], 0, 2)`, Doc: "part of a list"},
	{Name: "sort", Signature: `sort(["b", "a"])`, Doc: "strings in order"},
	{Name: "values", Signature: `values({ a = 1 })`, Doc: "values of a map, by sorted key"},
	{Name: "zipmap", Signature: `zipmap(["a"], [1])`, Doc: "map from keys and values"},

	{Name: "format", Signature: `format("%d ms", 5)`, Doc: "text by a pattern"},
	{Name: "formatlist", Signature: `formatlist("%dms", [1, 2])`, Doc: "the same for each element of a list"},
	{Name: "join", Signature: `join("-", ["a", "b"])`, Doc: "strings as one"},
	{Name: "jsondecode", Signature: `jsondecode("[1]")`, Doc: "value from JSON"},
	{Name: "jsonencode", Signature: `jsonencode([1])`, Doc: "value as JSON"},
	{Name: "lower", Signature: `lower("A")`, Doc: "lower case"},
	{Name: "regex", Signature: `regex("[0-9]+", "a12")`, Doc: "match of a regular expression"},
	{Name: "replace", Signature: `replace("a-b", "-", "_")`, Doc: "text with a part replaced"},
	{Name: "split", Signature: `split(",", "a,b")`, Doc: "text cut at a separator"},
	{Name: "strlen", Signature: `strlen("abc")`, Doc: "characters in a text"},
	{Name: "substr", Signature: `substr("abc", 0, 2)`, Doc: "part of a text: offset and length"},
	{Name: "title", Signature: `title("ab")`, Doc: "first letters in upper case"},
	{Name: "trim", Signature: `trim("-a-", "-")`, Doc: "text without these characters at its ends"},
	{Name: "trimprefix", Signature: `trimprefix("ab", "a")`, Doc: "text without a beginning"},
	{Name: "trimspace", Signature: `trimspace(" a ")`, Doc: "text without space at its ends"},
	{Name: "trimsuffix", Signature: `trimsuffix("ab", "b")`, Doc: "text without an end"},
	{Name: "upper", Signature: `upper("a")`, Doc: "upper case"},

	{Name: "tobool", Signature: `tobool("true")`, Doc: "as a bool"},
	{Name: "tonumber", Signature: `tonumber("5")`, Doc: "as a number"},
	{Name: "tostring", Signature: `tostring(5)`, Doc: "as a string"},
}
