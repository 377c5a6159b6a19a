package market

import "github.com/tfexp/tfexp/experiments/schema"

// NodeArgs are the arguments of the node blocks of an engine whose servers come and go.
var NodeArgs = []schema.Arg{
	{Name: "market", Type: schema.String, Allowed: []string{OnDemand, Spot},
		Doc: "How the server of a node is rented: `on_demand`, or `spot`, which is cheaper and may be taken away. A " +
			"node without a market, a lifetime, a price and an acquisition is there from the start to the end.",
		DefaultDoc: "`spot` with a `lifetime`, else `on_demand`", Example: `"spot"`},
	{Name: "region", Type: schema.String,
		Doc:     "The region of the server, to which a catalogue of prices refers, and the `regions` of a policy.",
		Example: `"us-west1"`},
	{Name: "price", Type: schema.Price, Min: schema.Limit(0),
		Doc: "What a server costs, in US dollars an hour: a number; `prices(\"file.csv\")`, a table with the columns " +
			"`time_s` and `price`, from the start of the cell; or `catalogue(\"file.csv\")`, a table with the columns " +
			"`type`, `region`, `market` and `price`, where the type is `gpu` or else the name of the block. A map of " +
			"columns and texts after the file chooses rows, and a second map says what the columns are called, as in " +
			"`catalogue(\"aws.csv\", {}, { type = \"instance\", price = \"usd\" })`.",
		Example: `0.26`},
	{Name: "startup", Type: schema.Gap, Default: `"0s"`,
		Doc: "How long it takes from asking for a server until it can be used.", Example: `normal("70s", "10s")`},
	{Name: "lifetime", Type: schema.Life, DefaultDoc: "as long as it is wanted",
		Doc: "How long a server lives, once it can be used, until it is taken away. `survival` reads either a curve, " +
			"with the columns `time_s` and `survival`, or measured lives, with `lifetime_s` and `revoked` (1, or 0 for " +
			"one that was given back while it lived), of which it takes the Kaplan–Meier estimate. `availability` reads a " +
			"record of how many servers could be had, from the start of the cell: with the columns `time_s` and `servers` " +
			"(or `available`), where a number holds until the next one; with `first_tick`, `ticks` and `available`, in " +
			"ticks as long as `step`, where there is nothing in gaps and after the last; or without a header, lines of " +
			"milliseconds, `add` or `remove`, and a node. A map of columns and texts after the file chooses rows; a second " +
			"map has the names of columns that are called otherwise, the `step`, and as `window` a column that divides the " +
			"file into records, of which each replicate has the next one: `availability(\"zone.csv\", { instance = " +
			"\"v100\" }, { window = \"trace\", step = \"10m\" })`. The lives come from a random stream of their own: the " +
			"same losses hit all policies.",
		Example: `bathtub(0.45, "1h", "48m", "24h")`},
	{Name: "max_lifetime", Type: schema.Duration, Positive: true, DefaultDoc: "no limit",
		Doc: "The longest life that the provider allows.", Example: `"24h"`},
	{Name: "warning", Type: schema.Duration, Default: `"0s"`,
		Doc: "How long before its end a server gets notice. Nothing starts on it from then on, and jobs write a " +
			"checkpoint if there is time.", Example: `"30s"`},
	{Name: "replace", Type: schema.String, Allowed: []string{Never, Same, WithOnDemand}, Default: `"same"`,
		Doc: "What takes the place of a server that was taken away.", Example: `"on_demand"`},
	{Name: "replace_delay", Type: schema.Duration, Default: `"0s"`,
		Doc: "How long after the loss it is created.", Example: `"1m"`},
	{Name: "replace_limit", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1e6), DefaultDoc: "no limit",
		Doc: "How often a server of the node is replaced.", Example: `3`},
	{Name: "on_demand_price", Type: schema.Price, Min: schema.Limit(0), DefaultDoc: "`price`",
		Doc: "What a server costs that `replace = \"on_demand\"` puts in the place of another.", Example: `0.72`},
	{Name: "acquire", Type: schema.String, Allowed: []string{"fixed", "on_request"}, DefaultDoc: "`fixed`",
		Doc:     "When a server is asked for: at the start, or when a job at the head of the queue needs it.",
		Example: `"on_request"`},
	{Name: "idle", Type: schema.Duration, Default: `"0s"`,
		Doc: "How long a server on request is kept while no job is on it.", Example: `"5m"`},
}

// BillingBlock says for which time servers are paid.
var BillingBlock = &schema.Block{
	Name: "billing", Single: true,
	Doc: "For which part of its life a server is paid, by the second.",
	Args: []schema.Arg{
		{Name: "startup", Type: schema.Bool, Default: `true`,
			Doc: "Whether the time until a server can be used is paid, as providers do.", Example: `false`},
		{Name: "unit", Type: schema.Duration, Positive: true, DefaultDoc: "the exact time",
			Doc: "The time of which whole multiples are paid.", Example: `"1h"`},
		{Name: "minimum", Type: schema.Duration, Default: `"0s"`, Doc: "The least time that is paid.", Example: `"1m"`},
	},
}
