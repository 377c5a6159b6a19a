package builtin

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
)

//go:embed arguments.go
var source embed.FS

var _ = schema.Document("builtin", source)

// trainer has the arguments that all built-in programs have.
type trainer struct {
	// The optimizer's step size.
	//
	// Default: 0.001 for adam, 0.05 for sgd.
	//
	//	learning_rate = 0.01
	LearningRate float64 `arg:"learning_rate" min:"1e-12" max:"1000000"`
	// Images per step.
	//
	//	batch = 64
	Batch int `arg:"batch" default:"32" min:"1" max:"1000000"`
	// The optimizer.
	//
	//	optimizer = "sgd"
	Optimizer string `arg:"optimizer" default:"adam" allowed:"adam sgd"`
	// The seed of the initial weights and of the order of the images.
	//
	//	seed = 3
	Seed int `arg:"seed" default:"1" min:"0" max:"9007199254740992"`
}

// schedule has the arguments that are listed after a program's own ones.
type schedule struct {
	// The factor by which the learning rate is multiplied after each epoch.
	//
	// Default: 1.
	//
	//	decay = 0.95
	Decay float64 `arg:"decay" min:"1e-06" max:"1"`
	// Passes over the data in one epoch; more passes make the epoch longer.
	//
	//	passes = 10
	Passes int `arg:"passes" default:"1" min:"1" max:"1000000"`
}

// deepened has the arguments of programs whose networks can be deepened while they train.
type deepened struct {
	// The number of layers in each block of the network: first the convolutions, then the hidden layers. Each layer of
	// a block has the size of its first one.
	//
	// Default: one layer in each.
	//
	//	blocks = [1, 2]
	Blocks []int `arg:"blocks" min:"1" max:"64"`
	// What follows each layer of a block. A network with `tanh` cannot be deepened while it trains.
	//
	// Default: relu.
	//
	//	activation = "tanh"
	Activation string `arg:"activation" allowed:"relu tanh"`
	// The learning rate after a deepening.
	//
	// Default: the rate before it.
	//
	//	restart_rate = 0.001
	RestartRate float64 `arg:"restart_rate" min:"1e-12" max:"1000000"`
}

type softmaxArgs struct {
	trainer
	schedule
}

type svmArgs struct {
	trainer
	// Weight of the L2 penalty.
	//
	//	regularization = 0.001
	Regularization float64 `arg:"regularization" default:"0.0001" min:"0" max:"1000000"`
	schedule
}

type mlpArgs struct {
	trainer
	// Units of each hidden layer.
	//
	//	hidden = [64, 32]
	Hidden []int `arg:"hidden" default:"[64]" min:"1" max:"65536"`
	deepened
	schedule
}

type cnnArgs struct {
	trainer
	// Filters of each convolution.
	//
	//	filters = [8, 16]
	Filters []int `arg:"filters" default:"[8, 16]" min:"1" max:"4096"`
	// Units of the hidden layer.
	//
	//	hidden = 128
	Hidden int `arg:"hidden" default:"64" min:"1" max:"65536"`
	deepened
	schedule
}

// builtinArgs has no arguments of all programs: each has its own.
//
// A training program that is built into tfexp. It learns to recognise handwritten digits in images of 8×8 pixels.
//
//	job "deep" {
//	  builtin "mlp" {
//	    hidden        = [64, 32]
//	    learning_rate = 0.002
//	  }
//	  epochs = 60
//	}
//
// In a container it needs an image with `tfexp` in its path (stages/builtin/build-image.sh).
type builtinArgs struct{}

func block() *schema.Block {
	return schema.BlockFor[builtinArgs](schema.Block{
		Name: name, Label: "program", Single: true, Labels: []string{"softmax", "svm", "mlp", "cnn"},
		ByLabel: []schema.Labelled{
			{Label: "softmax", Doc: "Softmax regression.", Args: schema.Args[softmaxArgs]()},
			{Label: "svm", Doc: "A linear support vector machine with the hinge loss.", Args: schema.Args[svmArgs]()},
			{Label: "mlp", Doc: "A multilayer perceptron.", Args: schema.Args[mlpArgs]()},
			{
				Label: "cnn", Args: schema.Args[cnnArgs](),
				Doc: "A convolutional network: 3×3 filters, 2×2 pooling after the first convolution, and " +
					"a hidden layer.",
			},
		},
	})
}
