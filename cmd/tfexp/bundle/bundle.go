// Package bundle is the command "tfexp export bundle", which writes an experiment with all files that it reads, and
// with its results, as one archive that runs elsewhere.
package bundle

import (
	"archive/tar"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

//go:embed help
var helpTexts embed.FS

//go:embed keep.go
var keepSource embed.FS

func init() { command.Register("export", exportBundleCommand) }

// defaultMost is the default of --most: the largest total size of the files in an archive.
const defaultMost = "1GiB"

func exportBundleCommand(a *command.App) *cobra.Command {
	var out, most string
	cmd := &cobra.Command{
		Use:   "bundle [DIR] [-o FILE] [--most SIZE]",
		Short: "Write an experiment with its inputs and results as one archive",
		Long:  command.Help(helpTexts, "export_bundle"),
		Example: `  tfexp export bundle results/fcfs_vs_rr
  tfexp export bundle results/fcfs_vs_rr -o study.tar.gz --most 20GiB`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			bound, err := schema.ParseSize(most)
			if err != nil {
				return command.Usagef("for example --most 20GiB", "--most %q is not a size", most)
			}
			dirs, err := command.ExperimentsIn(command.DirArgument(args))
			if err != nil {
				return err
			}
			if len(dirs) > 1 {
				return command.Usagef("name one: "+strings.Join(dirs, ", "), "there are %d experiments", len(dirs))
			}
			b, err := gather(a, dirs[0])
			if err != nil {
				return err
			}
			if n := b.size(); n > bound {
				return command.Usagef(fmt.Sprintf("--most %dMiB takes them all; the largest is %s", n>>20+1, b.largest()),
					"the files of the archive have %d MiB, and --most is %s", n>>20, most)
			}
			if out == "" {
				out = b.Name + ".tar.gz"
			}
			// The archive has the results: only the user may read it.
			if err := filearg.WriteToAs(a, out, 0o600, b.write); err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "%s: %s and the results in %s\n", out, schema.Plural(len(b.Inputs), "input file"), dirs[0])
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE` (default NAME.tar.gz)")
	cmd.Flags().StringVar(&most, "most", defaultMost, "the largest `SIZE` of all files together, before they are packed")
	return cmd
}

// Bundle is the content of an archive, as its bundle.json describes it.
type Bundle struct {
	Name string `json:"experiment"`
	// File is the path of the experiment file in the archive, and Results of the folder of results.
	File    string  `json:"file"`
	Results string  `json:"results"`
	Inputs  []Input `json:"inputs"`
	// Images are the container images that the experiment uses; the archive does not contain them.
	Images []string `json:"images,omitempty"`

	source []byte // the text of the experiment file
	dir    string // the folder of the results
	kept   []string
}

// gather returns the description of an archive of the results in dir.
func gather(a *command.App, dir string) (*Bundle, error) {
	var run record.Run
	if err := folder.ReadJSON(dir, &run, record.RunFile); err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	_, source, err := e.Source()
	if err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	file := run.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	inputs, ok := record.CopyOf(dir)
	if ok && inputs.Needed {
		file = inputs.File
	}
	var vars []string
	for _, v := range e.Plan.Variables {
		vars = append(vars, v.Name+"="+v.Value)
	}
	spec, diags := decode.Source(file, []byte(source), decode.Options{Vars: vars, Lenient: run.Lenient, Host: command.HostFacts()})
	if diags.HasErrors() {
		a.Diagnose(diags)
		return nil, command.Silently(command.Invalid(diags))
	}
	b := &Bundle{Name: e.Plan.Experiment, source: []byte(source), dir: dir}
	if b.kept, err = files(dir); err != nil {
		return nil, err
	}
	return b, b.inputs(spec)
}

// inputs adds the files that the experiment reads.
func (b *Bundle) inputs(spec *experiment.Spec) error {
	found, err := inputsOf(spec)
	if err != nil {
		return err
	}
	if found.root == filepath.Dir(found.root) {
		return command.Usagef("put them beside the experiment, and name them relative to it",
			"the files that the experiment reads have no common folder: %s", strings.Join(found.paths, ", "))
	}
	b.File, b.Results, b.Images = found.place(spec.File), "results/"+filepath.Base(b.dir), found.images
	for _, path := range found.paths {
		in, err := found.describe(path)
		if err != nil {
			return err
		}
		b.Inputs = append(b.Inputs, in)
		if text := filepath.ToSlash(path); strings.Contains(string(b.source), `"`+text+`"`) {
			return command.Usagef("name it relative to the experiment file, and run again",
				"the experiment names the file %s by its absolute path, which other machines do not have", path)
		}
	}
	return nil
}

// write writes the archive as a compressed tar file.
func (b *Bundle) write(w io.Writer) error {
	packed := gzip.NewWriter(w)
	t := &archive{Writer: tar.NewWriter(packed), below: b.Name}
	about, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the archive: %w", err)
	}
	t.bytes("bundle.json", append(about, '\n'))
	t.bytes(b.File, b.source)
	for _, in := range b.Inputs {
		t.file(in.Path, in.From)
	}
	b.results(t)
	if t.err == nil {
		t.err = t.Close()
	}
	if err := packed.Close(); t.err == nil {
		t.err = err
	}
	return t.err
}

// results adds the folder of the results. Its run.json names the experiment file of the archive.
func (b *Bundle) results(t *archive) {
	run, err := runElsewhere(b.dir, "../../"+b.File)
	if err != nil {
		t.err = err
		return
	}
	t.folder(b.Results, b.dir)
	for _, name := range b.kept {
		place := b.Results + "/" + filepath.ToSlash(name)
		switch name {
		case record.RunFile:
			t.bytes(place, run)
		case record.SumsFile:
			sums, err := sumsWith(filepath.Join(b.dir, name), record.RunFile, run)
			if err != nil {
				t.err = err
				return
			}
			t.bytes(place, sums)
		default:
			t.file(place, filepath.Join(b.dir, name))
		}
	}
}

// size returns the total size of the archive's files in bytes, before compression.
func (b *Bundle) size() (n int64) {
	for _, in := range b.Inputs {
		n += in.Bytes
	}
	for _, name := range b.kept {
		if info, err := os.Stat(filepath.Join(b.dir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}

// largest returns the path of the largest input file; without input files, the folder of the results.
func (b *Bundle) largest() string {
	most, name := int64(0), b.dir
	for _, in := range b.Inputs {
		if in.Bytes > most {
			most, name = in.Bytes, in.From
		}
	}
	return name
}
