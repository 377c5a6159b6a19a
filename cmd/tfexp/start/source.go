package start

// Source is a kind of file, besides programs, of which features make a first experiment.
type Source struct {
	// Is reports whether a file is of this kind, by its name.
	Is func(file string) bool
	// Experiment returns the experiment of a name that is made of the file at path, and the facts that could not be found
	// out. shown is the path as the experiment names it.
	Experiment func(path, shown, name string) (source []byte, doubts []string, err error)
}

var sources []Source

// Register adds a kind of file.
func Register(s Source) { sources = append(sources, s) }

// SourceOf returns the kind of a file; nil where it is taken for a program.
func SourceOf(file string) *Source {
	for i := range sources {
		if sources[i].Is(file) {
			return &sources[i]
		}
	}
	return nil
}
