package market

import (
	"embed"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Rental has the arguments of a node whose servers come and go.
type Rental struct {
	// How the server of a node is rented: `on_demand`, or `spot`, which is cheaper and may be taken away. A node
	// without a market, a lifetime, a price and an acquisition is there from the start to the end.
	//
	// Default: `spot` with a `lifetime`, else `on_demand`.
	//
	//	market = "spot"
	Market string `arg:"market" allowed:"on_demand spot"`
	// The region of the server, to which a catalogue of prices refers, and the `regions` of a policy.
	//
	//	region = "us-west1"
	Region string `arg:"region"`
	// The price of a server, in US dollars an hour: a number; `prices("file.csv")`, a table with the columns
	// `time_s` and `price`, from the start of the cell; or `catalogue("file.csv")`, a table with the columns
	// `type`, `region`, `market` and `price`, where the type is `gpu` or else the name of the block. A map of
	// columns and texts after the file chooses rows, and a second map names the columns, as in
	// `catalogue("aws.csv", {}, { type = "instance", price = "usd" })`.
	//
	//	price = 0.26
	Price any `arg:"price" type:"price" min:"0"`
	// How long it takes from asking for a server until it can be used.
	//
	//	startup = normal("70s", "10s")
	Startup workload.Arrivals `arg:"startup" type:"gap" default:"0s"`
	// How long a server lives, once it can be used, until it is taken away:
	// - `survival` reads either a curve, with the columns `time_s` and `survival`, or measured lives, with `lifetime_s`
	//   and `revoked` (1, or 0 for one that was given back while it lived), and takes their Kaplan–Meier estimate.
	// - `availability` reads a record of how many servers were available, from the start of the cell: with the columns
	//   `time_s` and `servers` (or `available`), where a number holds until the next one; with `first_tick`, `ticks`
	//   and `available`, in ticks as long as `step`, with none in gaps and after the last; or without a header, lines
	//   of milliseconds, `add` or `remove`, and a node. A map of columns and texts after the file chooses rows; a
	//   second map has the columns with other names, the `step`, and as `window` a column that divides the file into
	//   records; each replicate takes the next record: `availability("zone.csv", { instance = "v100" }, { window =
	//   "trace", step = "10m" })`.
	//
	// The lives have a separate random stream: the same losses hit all policies.
	//
	// Default: as long as it is wanted.
	//
	//	lifetime = bathtub(0.45, "1h", "48m", "24h")
	Lifetime any `arg:"lifetime" type:"life"`
	// The longest life that the provider allows.
	//
	// Default: no limit.
	//
	//	max_lifetime = "24h"
	MaxLifetime time.Duration `arg:"max_lifetime,positive"`
	// How long before its end a server gets notice. Nothing starts on it from then on, and jobs write a checkpoint
	// if there is time.
	//
	//	warning = "30s"
	Warning time.Duration `arg:"warning" default:"0s"`
	// What takes the place of a server that was taken away.
	//
	//	replace = "on_demand"
	Replace string `arg:"replace" default:"same" allowed:"never same on_demand"`
	// How long after the loss it is created.
	//
	//	replace_delay = "1m"
	ReplaceDelay time.Duration `arg:"replace_delay" default:"0s"`
	// How often a server of the node is replaced.
	//
	// Default: no limit.
	//
	//	replace_limit = 3
	ReplaceLimit int `arg:"replace_limit" min:"1" max:"1000000"`
	// The price of a server that `replace = "on_demand"` puts in the place of another.
	//
	// Default: `price`.
	//
	//	on_demand_price = 0.72
	OnDemandPrice any `arg:"on_demand_price" type:"price" min:"0"`
	// When a server is asked for: at the start, or when a job at the head of the queue needs it.
	//
	// Default: `fixed`.
	//
	//	acquire = "on_request"
	Acquire string `arg:"acquire" allowed:"fixed on_request"`
	// How long a server on request is kept while no job is on it.
	//
	//	idle = "5m"
	Idle time.Duration `arg:"idle" default:"0s"`
}

// Billing says for which time servers are paid.
//
// For which part of its life a server is paid, by the second.
type Billing struct {
	// Whether the time until a server can be used is paid, as providers do.
	//
	//	startup = false
	Startup bool `arg:"startup" default:"true"`
	// The least time that is paid.
	//
	//	minimum = "1m"
	Minimum time.Duration `arg:"minimum" default:"0s"`
	// The unit of payment: whole multiples of this time are paid.
	//
	// Default: the exact time.
	//
	//	unit = "1h"
	Unit time.Duration `arg:"unit,positive"`
}

//go:embed language.go
var documented embed.FS

// NodeArgs are the arguments of the node blocks of an engine whose servers come and go. BillingBlock is the billing
// block of its hardware.
var NodeArgs, BillingBlock = described()

func described() ([]schema.Arg, *schema.Block) {
	schema.Document("market", documented)
	billing := schema.BlockFor[Billing](schema.Block{Name: "billing", Single: true})
	billing.Args[1], billing.Args[2] = billing.Args[2], billing.Args[1] // keys have the fields in their order
	return schema.Args[Rental](), billing
}
