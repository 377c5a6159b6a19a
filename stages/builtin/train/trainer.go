package train

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/tfexp/tfexp/jobs/digits"
	"github.com/tfexp/tfexp/jobs/program"
	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

const (
	// splitSeed and heldOut choose the images for the accuracy. They are the same for all programs and seeds, so that
	// accuracies can be compared.
	splitSeed = 1
	heldOut   = 0.2
	// minShard is the least number of images in a shard. minWork is the least number of multiplications in a shard's
	// forward pass. Smaller shards would take less time than handing them to another core.
	minShard  = 4
	minWork   = 40_000
	maxShards = 32
	// chunk is the number of parameters that a worker updates at a time.
	chunk = 1024
)

// state is the progress of a training: all values of a checkpoint. The order of the images in a pass is drawn from the
// seed and the pass's number. The place in the data therefore determines the state of the random numbers as well.
type state struct {
	Steps    int       // finished steps
	Pass, At int       // the next image: number of the pass, and index within it
	Weights  []float64 // all parameters
	M, V     []float64 // moments of the optimizer
	// Loss is the sum of the losses of the present epoch's images. The following fields are their number and the time.
	Loss    float64
	Images  int
	Elapsed time.Duration
	// Blocks has the number of layers of each block, and Born the step at which each layer was added (0: at the start).
	// Both are nil if the network was not deepened.
	Blocks, Born []int
	// Rate is the learning rate since the last restart, after RateEpoch epochs; 0 if there was no restart.
	Rate      float64
	RateEpoch int
	// Trained is the service time of all attempts. Request is the last request of the control file that was carried
	// out.
	Trained time.Duration
	Request program.MessageID
	// Tickets are the batches that workers were computing; see server.
	Tickets []Ticket
}

// trainer runs the steps of a training.
type trainer struct {
	config  config
	blocks  []int // of the network at the start
	net     network.Network
	team    *team
	train   digits.Set
	held    digits.Set
	state   state
	opt     *network.Optimizer
	order   []int // order of the images in the present pass
	pass    int
	shard   int // number of images in a shard
	spaces  []*network.Workspace
	grads   [][]float64 // by shard
	losses  []float64   // by shard
	hits    []int       // correct ones, by group of held-out images
	chunks  []span
	labels  [][]uint8 // by worker
	present batch
}

// batch is the batch of the present step.
type batch struct {
	images []int // indices in the training set
	shards int
}

// span is a range of parameters with the same penalty, which were added at the same step.
type span struct {
	lo, hi  int
	penalty float64
	born    int
}

func newTrainer(c config, t *team) *trainer {
	tr := &trainer{config: c, blocks: c.blocks, team: t, pass: -1}
	tr.train, tr.held = digits.Split(splitSeed, heldOut)
	tr.order = make([]int, tr.train.Len())
	tr.net = network.New(c.shape())
	tr.state.Weights = tr.net.Initialize(c.seed)
	tr.opt = network.NewOptimizer(c.learningRate, c.optimizer == "adam", len(tr.state.Weights))
	tr.state.M, tr.state.V = tr.opt.M, tr.opt.V
	tr.layout()
	return tr
}

// layout allocates the memory whose size depends on the network and the batch.
func (tr *trainer) layout() {
	tr.config.batch = min(tr.config.batch, tr.train.Len())
	tr.shard = shardSize(tr.config.batch, tr.net.Products())
	shards := ceil(tr.config.batch, tr.shard)
	tr.grads = make([][]float64, shards)
	for i := range tr.grads {
		tr.grads[i] = make([]float64, len(tr.state.Weights))
	}
	tr.losses = make([]float64, shards)
	tr.hits = make([]int, ceil(tr.held.Len(), tr.shard))
	tr.spaces, tr.labels, tr.chunks = nil, nil, nil
	at := 0
	for i, l := range tr.net.Layers {
		weights, biases := l.Params()
		born := 0
		if tr.state.Born != nil {
			born = tr.state.Born[i]
		}
		tr.cut(at, at+weights, tr.config.regularization, born)
		tr.cut(at+weights, at+weights+biases, 0, born) // biases have no penalty
		at += weights + biases
	}
}

// resize changes the number of images in a step.
func (tr *trainer) resize(batch int) {
	tr.config.batch = batch
	tr.layout()
}

// shardSize returns the number of images in a shard; products is the number of multiplications per image. Shards do not
// depend on the number of threads, and their gradients are added in order. Every number of threads therefore gives the
// same sums, to the last bit. The number of shards is a power of two, which most numbers of cores divide.
func shardSize(batch, products int) int {
	shards := 1
	for 2*shards <= maxShards && 2*shards*minShard <= batch && 2*shards*minWork <= batch*products {
		shards *= 2
	}
	return ceil(batch, shards)
}

func (tr *trainer) cut(lo, hi int, penalty float64, born int) {
	for ; lo < hi; lo += chunk {
		tr.chunks = append(tr.chunks, span{lo, min(lo+chunk, hi), penalty, born})
	}
}

// restore sets the trainer to s, which must fit its configuration.
func (tr *trainer) restore(s state) {
	tr.state = s
	tr.opt.M, tr.opt.V = s.M, s.V
	blocks := tr.blocks
	if s.Blocks != nil {
		blocks = s.Blocks
	}
	if !slices.Equal(blocks, tr.config.blocks) {
		tr.config.blocks = blocks
		tr.net = network.New(tr.config.shape())
		tr.layout()
	}
}

// reshape changes the blocks of the network, and allocates memory for their weights.
func (tr *trainer) reshape(blocks []int) {
	tr.config.blocks = blocks
	tr.net = network.New(tr.config.shape())
	n := tr.net.Params()
	tr.state.Weights, tr.state.Blocks, tr.state.Born = make([]float64, n), blocks, nil
	tr.layout()
}

// imagesPerEpoch is the number of images that an epoch trains on.
func (tr *trainer) imagesPerEpoch() int { return tr.train.Len() * tr.config.passes }

// epochs is the number of finished epochs.
func (s state) epochs(passes int) int { return s.Pass / passes }

// epochEnds reports whether the last step has ended an epoch.
func (tr *trainer) epochEnds() bool {
	return tr.state.Steps > 0 && tr.state.At == 0 && tr.state.Pass%tr.config.passes == 0
}

// rate returns the learning rate of the next step.
func (tr *trainer) rate() float64 {
	rate := tr.config.learningRate
	if tr.state.Rate > 0 {
		rate = tr.state.Rate
	}
	if tr.config.decay != 1 {
		rate *= math.Pow(tr.config.decay, float64(tr.state.epochs(tr.config.passes)-tr.state.RateEpoch))
	}
	return rate
}

// restartRate sets the learning rate after the given number of epochs. If the checkpoint already has this rate, its
// decay continues.
func (tr *trainer) restartRate(rate float64, epoch int) {
	if tr.state.Rate != rate {
		tr.state.Rate, tr.state.RateEpoch = rate, epoch
	}
}

// grow allocates memory for workers that were added to the team.
func (tr *trainer) grow() {
	for len(tr.spaces) < tr.team.threads {
		tr.spaces = append(tr.spaces, tr.net.NewWorkspace(tr.shard))
		tr.labels = append(tr.labels, make([]uint8, tr.shard))
	}
}

// step trains on the next batch.
func (tr *trainer) step() {
	s := &tr.state
	end := min(s.At+tr.config.batch, len(tr.order))
	tr.opt.Rate = tr.rate()
	tr.compute(s.Pass, s.At, end)
	s.Steps++
	tr.eachChunk(tr.update)
	for _, l := range tr.losses[:tr.present.shards] {
		s.Loss += l
	}
	s.Images += len(tr.present.images)
	if s.At = end; end == len(tr.order) {
		s.Pass, s.At = s.Pass+1, 0
	}
}

// compute computes the gradients of the images lo to hi of a pass, one shard at a time.
func (tr *trainer) compute(pass, lo, hi int) {
	tr.grow()
	if pass != tr.pass {
		tr.shuffle(pass)
	}
	tr.present.images = tr.order[lo:hi]
	tr.present.shards = ceil(hi-lo, tr.shard)
	tr.team.do(tr.present.shards, tr.gradient)
}

// eachChunk calls f for every chunk of the parameters.
func (tr *trainer) eachChunk(f func(worker, chunk int)) {
	if tr.present.shards > 1 {
		tr.team.do(len(tr.chunks), f)
		return
	}
	for i := range tr.chunks { // one goroutine is faster: with so few shards, the gradient was not divided either
		f(0, i)
	}
}

// loss returns the sum of the losses of the last step's images.
func (tr *trainer) loss() float64 {
	sum := 0.0
	for _, l := range tr.losses[:tr.present.shards] {
		sum += l
	}
	return sum
}

// shuffle draws the order of the images in a pass.
func (tr *trainer) shuffle(pass int) {
	for i := range tr.order {
		tr.order[i] = i
	}
	network.Stream(tr.config.seed, "order", pass).Shuffle(len(tr.order), func(i, j int) {
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
		copy(ws.Values[0][i*digits.Pixels:], tr.train.Image(image))
		labels[i] = tr.train.Y[image]
	}
	tr.losses[shard] = tr.net.Gradient(tr.state.Weights, ws, labels, tr.grads[shard])
}

// update adds the shards' gradients for one chunk of the parameters, and updates these parameters.
func (tr *trainer) update(_, i int) {
	c := tr.chunks[i]
	tr.sum(c)
	scale := 1 / float64(len(tr.present.images))
	tr.opt.Update(tr.state.Weights, tr.grads[0], c.lo, c.hi, tr.state.Steps-c.born, scale, c.penalty)
}

// sum adds the shards' gradients for one chunk; the result is in the first shard's.
func (tr *trainer) sum(c span) {
	sum := tr.grads[0][c.lo:c.hi]
	for _, g := range tr.grads[1:tr.present.shards] {
		floats.Add(sum, g[c.lo:c.hi])
	}
}

// meanGradient returns the mean gradient of the last images, with the penalty. The next computation overwrites it.
func (tr *trainer) meanGradient() []float64 {
	scale := 1 / float64(len(tr.present.images))
	tr.eachChunk(func(_, i int) {
		c := tr.chunks[i]
		tr.sum(c)
		g, w := tr.grads[0][c.lo:c.hi], tr.state.Weights[c.lo:c.hi]
		for k := range g {
			g[k] = scale*g[k] + c.penalty*w[k]
		}
	})
	return tr.grads[0]
}

// accuracy returns the part of held-out images that are classified correctly.
func (tr *trainer) accuracy() float64 {
	tr.grow()
	tr.team.do(len(tr.hits), func(worker, block int) {
		ws := tr.spaces[worker]
		lo := block * tr.shard
		labels := tr.held.Y[lo:min(lo+tr.shard, tr.held.Len())]
		copy(ws.Values[0], tr.held.X[lo*digits.Pixels:(lo+len(labels))*digits.Pixels])
		scores := tr.net.Forward(tr.state.Weights, ws, len(labels))
		tr.hits[block] = 0
		for i, label := range labels {
			if network.Argmax(network.RowOf(scores, i)) == int(label) {
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
