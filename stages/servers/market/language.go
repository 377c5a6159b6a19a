package market

import (
	"embed"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Rental has the arguments of a node whose servers come and go.
type Rental struct {
	// How the server of a node is rented: `on_demand`, or as a cheaper `spot` server that the provider may take away. A
	// node without a market, a lifetime, a price and an acquisition is there from the start to the end.
	//
	// Default: `spot` with a `lifetime`, else `on_demand`.
	//
	//	market = "spot"
	Market string `arg:"market" allowed:"on_demand spot"`
	// The region of the server, which price catalogues and the `regions` of a policy name.
	//
	//	region = "us-west1"
	Region string `arg:"region"`
	// The price of a server per hour: a number, `prices("file.csv")` over time, or `catalogue("file.csv")` by type,
	// region and market. A table of prices has the columns `time_s` (from the start of the cell) and `price`; a
	// catalogue has the columns `type`, `region`, `market` and `price`, where the type is `gpu` or else the name of the
	// block. A map of columns and texts after the file chooses rows, and a second map names the columns, as in
	// `catalogue("aws.csv", {}, { type = "instance", price = "usd" })`.
	//
	//	price = 0.26
	Price any `arg:"price" type:"price" min:"0" max:"1e8"`
	// The time from the request for a server until jobs can use it.
	//
	//	startup = normal("70s", "10s")
	Startup workload.Arrivals `arg:"startup" type:"gap" default:"0s"`
	// The time from the start of a server until the provider takes it away:
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
	// The longest lifetime that the provider allows.
	//
	// Default: no limit.
	//
	//	max_lifetime = "24h"
	MaxLifetime time.Duration `arg:"max_lifetime,positive"`
	// How long before its end a server gets a warning. Nothing starts on it from then on, and jobs write a checkpoint
	// if there is time.
	//
	//	warning = "30s"
	Warning time.Duration `arg:"warning" default:"0s"`
	// Whether and how a server that was taken away is replaced: `never`, by the `same` kind, or by a server
	// `on_demand`.
	//
	//	replace = "on_demand"
	Replace string `arg:"replace" default:"same" allowed:"never same on_demand"`
	// The time from the loss of a server until tfexp requests its replacement.
	//
	//	replace_delay = "1m"
	ReplaceDelay time.Duration `arg:"replace_delay" default:"0s"`
	// The most replacements for a server.
	//
	// Default: no limit.
	//
	//	replace_limit = 3
	ReplaceLimit int `arg:"replace_limit" min:"1" max:"1000000"`
	// The price of a server that replaces another one under `replace = "on_demand"`.
	//
	// Default: `price`.
	//
	//	on_demand_price = 0.72
	OnDemandPrice any `arg:"on_demand_price" type:"price" min:"0" max:"1e8"`
	// When tfexp requests a server: at the start, or when a job at the head of the queue needs it.
	//
	// Default: `fixed`.
	//
	//	acquire = "on_request"
	Acquire string `arg:"acquire" allowed:"fixed on_request"`
	// How long tfexp keeps an idle server that it rented on request.
	//
	//	idle = "5m"
	Idle time.Duration `arg:"idle" default:"0s"`
}

// Billing says for which time servers are paid.
//
// Which part of a server's life you pay for.
type Billing struct {
	// Whether you pay for the startup time of a server, as providers usually charge.
	//
	//	startup = false
	Startup bool `arg:"startup" default:"true"`
	// The shortest paid time.
	//
	//	minimum = "1m"
	Minimum time.Duration `arg:"minimum" default:"0s"`
	// The unit of payment: the paid time is rounded up to a multiple of it.
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
	// the lines of keys have the fields in the order of Billing
	billing.Args[1], billing.Args[2] = billing.Args[2], billing.Args[1]
	return schema.Args[Rental](), billing
}
