package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/digits"
	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// Program is a training program and its settings.
type Program struct {
	Name string
	Doc  string // one sentence
	// Params are the settings of the program, in the order of its help. Experiment files use their names; flags have
	// dashes in place of underscores.
	Params []Param
}

// Param is a setting of a program.
type Param struct {
	Name string
	Type string // number, integer, string or integers (a list: "64,32" or "[64, 32]")
	// Default is the default value as text. It is empty if it depends on another setting; Doc then describes it.
	Default string
	Doc     string
}

// Programs returns every program with its settings.
func Programs() []Program {
	return []Program{
		{"softmax", "Softmax regression.", params()},
		{"svm", "A linear support vector machine, by the multi-class hinge loss.", params(
			Param{"regularization", "number", "0.0001", "weight of the L2 penalty on the weights"})},
		{"mlp", "A multilayer perceptron.", params(deepened(
			Param{"hidden", "integers", "[64]", "units of each hidden layer"})...)},
		{"cnn", "A convolutional network: 3×3 filters, 2×2 pooling after the first, a hidden layer.", params(deepened(
			Param{"filters", "integers", "[8, 16]", "filters of each convolution"},
			Param{"hidden", "integer", "64", "units of the hidden layer"})...)},
	}
}

// params returns the settings that all programs have, with a program's own settings among them.
func params(own ...Param) []Param {
	all := []Param{
		{"learning_rate", "number", "", "the optimizer's step size; 0.001 for adam and 0.05 for sgd where it is not given"},
		{"batch", "integer", "32", "images in a step"},
		{"optimizer", "string", "adam", "adam, or sgd (with momentum 0.9)"},
		{"seed", "integer", "1", "seed of the initial weights and of the order of the images"},
	}
	all = append(all, own...)
	return append(all,
		Param{"decay", "number", "", "factor on the learning rate after each epoch; 1 where it is not given"},
		Param{"passes", "integer", "1", "passes over the data that make one epoch"})
}

// deepened appends the settings of programs whose networks can be deepened while they train.
func deepened(own ...Param) []Param {
	return append(own,
		Param{"blocks", "integers", "", "layers in each block: convolutions, then hidden layers; one where it is not given"},
		Param{"activation", "string", "", "what follows each layer: tanh, or relu where it is not given"},
		Param{"restart_rate", "number", "", "learning rate after a deepening; as before it where it is not given"})
}

// Names returns the names of the programs.
func Names() []string { return schema.Each(Programs(), func(p Program) string { return p.Name }) }

// find returns the program with the given name. The error suggests a similar name.
func find(name string) (Program, error) {
	nearest, distance := "", 3
	for _, p := range Programs() {
		if p.Name == name {
			return p, nil
		}
		if d := levenshtein.Distance(strings.ToLower(name), p.Name, nil); d < distance {
			nearest, distance = p.Name, d
		}
	}
	hint := ""
	if nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return Program{}, fmt.Errorf("there is no program %q%s: use %s", name, hint, strings.Join(Names(), ", "))
}

// config has the settings of a network and of its training.
type config struct {
	program        string
	learningRate   float64
	batch          int
	optimizer      string
	seed           uint64
	regularization float64
	hidden         []int
	filters        []int
	passes         int
	// blocks has the number of layers of each block; nil means one layer. activation follows each of these layers;
	// empty means relu.
	blocks     []int
	activation string
	// decay multiplies the learning rate after each epoch. restartRate is the learning rate after a deepening; 0 does
	// not change it.
	decay, restartRate float64
}

// maxDepth is the greatest number of layers in a block.
const maxDepth = 64

// depths returns the number of layers in each block: first the convolutions, then the hidden layers.
func (c config) depths() []int {
	if c.blocks != nil {
		return c.blocks
	}
	return slices.Repeat([]int{1}, len(c.filters)+len(c.hidden))
}

// shape returns the shape of the network.
func (c config) shape() network.Shape {
	return network.Shape{
		Filters: c.filters, Hidden: c.hidden, Depths: c.depths(), Activation: c.activation, Hinge: c.program == "svm",
	}
}

// defaults returns the default settings of p. The learning rate is 0 until complete sets it.
func defaults(p Program) config {
	c := config{program: p.Name, decay: 1}
	for _, param := range p.Params {
		if param.Default == "" {
			continue
		}
		if err := c.set(param.Name, param.Default); err != nil {
			panic(err) // Programs has a default that set cannot read; a test covers all programs
		}
	}
	return c
}

// set parses the value of one setting; name is its name in experiment files.
func (c *config) set(name, value string) error {
	var err error
	switch name {
	case "learning_rate":
		c.learningRate, err = number(value)
		if err == nil && c.learningRate == 0 {
			err = errors.New("the value must be a number above 0")
		}
	case "batch":
		c.batch, err = integer(value, 1)
	case "optimizer":
		c.optimizer = value
		if value != "adam" && value != "sgd" {
			err = errors.New("the value must be adam or sgd")
		}
	case "seed":
		var n int
		n, err = integer(value, 0)
		c.seed = uint64(n)
	case "regularization":
		c.regularization, err = number(value)
	case "hidden":
		c.hidden, err = integers(value)
		if err == nil && c.program == "cnn" && len(c.hidden) != 1 {
			err = errors.New("the value must be one whole number")
		}
	case "filters":
		c.filters, err = integers(value)
	case "blocks":
		c.blocks, err = integers(value)
		if err == nil && slices.Max(c.blocks) > maxDepth {
			err = fmt.Errorf("a block may have at most %d layers", maxDepth)
		}
	case "activation":
		c.activation = value
		if value != "relu" && value != "tanh" {
			err = errors.New("the value must be relu or tanh")
		}
	case "decay":
		c.decay, err = number(value)
		if err == nil && (c.decay == 0 || c.decay > 1) {
			err = errors.New("the value must be a number above 0 and at most 1")
		}
	case "restart_rate":
		c.restartRate, err = number(value)
		if err == nil && c.restartRate == 0 {
			err = errors.New("the value must be a number above 0")
		}
	case "passes":
		c.passes, err = integer(value, 1)
	default:
		err = fmt.Errorf("there is no setting %q", name)
	}
	return err
}

// complete sets the settings that depend on others, and checks all settings together.
func (c *config) complete() error {
	if c.learningRate == 0 {
		c.learningRate = 0.05
		if c.optimizer == "adam" {
			c.learningRate = 0.001
		}
	}
	c.batch = min(c.batch, digits.Images)
	for _, n := range append(append([]int(nil), c.hidden...), c.filters...) {
		if n > network.MaxParams {
			return fmt.Errorf("a layer has %d units; at most %d are allowed", n, network.MaxParams)
		}
	}
	if n := len(c.filters) + len(c.hidden); c.blocks != nil && len(c.blocks) != n {
		return fmt.Errorf("blocks has %d numbers, and the network has %d blocks", len(c.blocks), n)
	}
	if n := network.New(c.shape()).Params(); n > network.MaxParams {
		return fmt.Errorf("the network has %d parameters; at most %d are allowed", n, network.MaxParams)
	}
	return nil
}

func number(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0, errors.New("the value must be a number of at least 0")
	}
	return x, nil
}

func integer(s string, least int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least {
		return 0, fmt.Errorf("the value must be a whole number of at least %d", least)
	}
	return n, nil
}

// integers parses a list of numbers: "64,32", "64 32" or "[64, 32]".
func integers(s string) ([]int, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	var list []int
	for _, field := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := integer(field, 1)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", field, err)
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, errors.New("give at least one whole number")
	}
	return list, nil
}
