package builtin

import (
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/tfexp/tfexp/jobs/digits"
)

const (
	// splitSeed and heldOut choose the held-out images, for every program and
	// seed the same, so that accuracies can be compared.
	splitSeed = 1
	heldOut   = 0.2
	// minShard is the least number of images in a shard, and minWork the
	// least number of multiplications (of its forward pass): for less, the
	// hand-over between two cores takes longer than the work.
	minShard  = 4
	minWork   = 40_000
	maxShards = 32
	// chunk is how many parameters a worker updates at a time.
	chunk = 1024
)

// state is what a training has come to: all that a checkpoint must hold. The
// order of the images in a pass is drawn from the seed and the pass's number,
// so that the count of steps is also the state of the random numbers.
type state struct {
	Steps   int       // finished
	Weights []float64 // all parameters
	M, V    []float64 // the optimizer's
	// Of the epoch that is not finished: the sum of the images' losses, how
	// many, and the time.
	Loss    float64
	Images  int
	Elapsed time.Duration
}

// trainer runs steps.
type trainer struct {
	config  config
	net     network
	team    *team
	train   digits.Set
	held    digits.Set
	state   state
	opt     *optimizer
	order   []int // of the images in pass
	pass    int
	shard   int // images in a shard
	spaces  []*workspace
	grads   [][]float64 // by shard
	losses  []float64   // by shard
	hits    []int       // by block of held-out images
	chunks  []span
	labels  [][]uint8 // by worker
	present batch
}

// batch is the step that is being computed.
type batch struct {
	images []int // in the training set
	shards int
}

// span is a range of parameters that share the penalty.
type span struct {
	lo, hi  int
	penalty float64
}

func newTrainer(c config, t *team) *trainer {
	tr := &trainer{config: c, net: newNetwork(c), team: t, pass: -1}
	tr.train, tr.held = digits.Split(splitSeed, heldOut)
	tr.config.batch = min(c.batch, tr.train.Len())
	tr.order = make([]int, tr.train.Len())
	tr.shard = shardSize(tr.config.batch, tr.net.products())
	shards := ceil(tr.config.batch, tr.shard)

	tr.state.Weights = tr.net.initialize(c.seed)
	tr.opt = newOptimizer(c, len(tr.state.Weights))
	tr.state.M, tr.state.V = tr.opt.m, tr.opt.v
	tr.grads = make([][]float64, shards)
	for i := range tr.grads {
		tr.grads[i] = make([]float64, len(tr.state.Weights))
	}
	tr.losses = make([]float64, shards)
	tr.hits = make([]int, ceil(tr.held.Len(), tr.shard))
	at := 0
	for _, l := range tr.net.layers {
		weights, biases := l.params()
		tr.cut(at, at+weights, c.regularization)
		tr.cut(at+weights, at+weights+biases, 0) // biases are free
		at += weights + biases
	}
	return tr
}

// shardSize says into how large shards a batch is cut, for a network that makes
// so many products for an image. The cut hangs on nothing else, and the shards'
// gradients are added in their order: so every number of threads gives the
// same sums, to the last bit. The number of shards is a power of two, which
// most numbers of cores divide evenly.
func shardSize(batch, products int) int {
	shards := 1
	for 2*shards <= maxShards && 2*shards*minShard <= batch && 2*shards*minWork <= batch*products {
		shards *= 2
	}
	return ceil(batch, shards)
}

func (tr *trainer) cut(lo, hi int, penalty float64) {
	for ; lo < hi; lo += chunk {
		tr.chunks = append(tr.chunks, span{lo, min(lo+chunk, hi), penalty})
	}
}

// restore goes on from s, which a checkpoint of the same configuration held.
func (tr *trainer) restore(s state) {
	tr.state = s
	tr.opt.m, tr.opt.v = s.M, s.V
}

// stepsPerPass is the number of steps in a pass over the data, of which the
// last may be smaller.
func (tr *trainer) stepsPerPass() int { return ceil(tr.train.Len(), tr.config.batch) }

func (tr *trainer) stepsPerEpoch() int { return tr.stepsPerPass() * tr.config.passes }

// grow makes room for the workers that the team now has.
func (tr *trainer) grow() {
	for len(tr.spaces) < tr.team.threads {
		tr.spaces = append(tr.spaces, tr.net.newWorkspace(tr.shard))
		tr.labels = append(tr.labels, make([]uint8, tr.shard))
	}
}

// step trains on the next batch.
func (tr *trainer) step() {
	tr.grow()
	pass, position := tr.state.Steps/tr.stepsPerPass(), tr.state.Steps%tr.stepsPerPass()
	if pass != tr.pass {
		tr.shuffle(pass)
	}
	lo := position * tr.config.batch
	tr.present.images = tr.order[lo:min(lo+tr.config.batch, len(tr.order))]
	tr.present.shards = ceil(len(tr.present.images), tr.shard)

	tr.team.do(tr.present.shards, tr.gradient)
	tr.state.Steps++
	if tr.present.shards > 1 {
		tr.team.do(len(tr.chunks), tr.update)
	} else { // where the gradient is not worth a hand-over, this is not either
		for i := range tr.chunks {
			tr.update(0, i)
		}
	}

	for _, l := range tr.losses[:tr.present.shards] {
		tr.state.Loss += l
	}
	tr.state.Images += len(tr.present.images)
}

// shuffle draws the order of the images in a pass.
func (tr *trainer) shuffle(pass int) {
	for i := range tr.order {
		tr.order[i] = i
	}
	stream(tr.config.seed, "order", pass).Shuffle(len(tr.order), func(i, j int) {
		tr.order[i], tr.order[j] = tr.order[j], tr.order[i]
	})
	tr.pass = pass
}

// gradient computes one shard of the batch.
func (tr *trainer) gradient(worker, shard int) {
	ws := tr.spaces[worker]
	lo := shard * tr.shard
	images := tr.present.images[lo:min(lo+tr.shard, len(tr.present.images))]
	labels := tr.labels[worker][:len(images)]
	for i, image := range images {
		copy(ws.values[0][i*digits.Pixels:], tr.train.Image(image))
		labels[i] = tr.train.Y[image]
	}
	tr.losses[shard] = tr.net.gradient(tr.state.Weights, ws, labels, tr.grads[shard])
}

// update adds up the shards' gradients for one chunk of the parameters, and
// moves it.
func (tr *trainer) update(_, i int) {
	c := tr.chunks[i]
	sum := tr.grads[0][c.lo:c.hi]
	for _, g := range tr.grads[1:tr.present.shards] {
		floats.Add(sum, g[c.lo:c.hi])
	}
	tr.opt.update(tr.state.Weights, tr.grads[0], c.lo, c.hi, tr.state.Steps, 1/float64(len(tr.present.images)), c.penalty)
}

// accuracy is the part of the held-out images that is classified rightly.
func (tr *trainer) accuracy() float64 {
	tr.grow()
	tr.team.do(len(tr.hits), func(worker, block int) {
		ws := tr.spaces[worker]
		lo := block * tr.shard
		labels := tr.held.Y[lo:min(lo+tr.shard, tr.held.Len())]
		copy(ws.values[0], tr.held.X[lo*digits.Pixels:(lo+len(labels))*digits.Pixels])
		scores := tr.net.forward(tr.state.Weights, ws, len(labels))
		tr.hits[block] = 0
		for i, label := range labels {
			if argmax(rowOf(scores, i)) == int(label) {
				tr.hits[block]++
			}
		}
	})
	sum := 0
	for _, h := range tr.hits {
		sum += h
	}
	return float64(sum) / float64(tr.held.Len())
}

// ceil is a / b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
