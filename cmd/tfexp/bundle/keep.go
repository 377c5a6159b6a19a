package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

const (
	// InputsDir is the folder with copies of the experiment file and of its input files. InputsFile lists the input
	// files.
	InputsDir  = "inputs"
	InputsFile = "inputs.json"

	// mostInputs is the largest number of copies.
	mostInputs = 5000
)

// keepArgs are the arguments of an experiment block about copies of its inputs.
type keepArgs struct {
	// The greatest total size of the copied input files (traces, tables, programs) in the results. With them, a folder
	// of results that is moved to another machine is resumed and run again there. Small files are copied first;
	// `inputs.json` lists all with their SHA-256, and says which have no copy.
	//
	//	keep_inputs = "2GiB"
	Most int64 `arg:"keep_inputs" default:"\"256MiB\""`
}

// Kept is the content of inputs.json: the files that an experiment reads.
type Kept struct {
	// File is the path of the experiment file among the copies. Root is the folder on the original machine that
	// contains all the files.
	File   string  `json:"file"`
	Root   string  `json:"root"`
	Inputs []Input `json:"inputs"`
	// Images are the container images of the experiment, with their digests where these are known.
	Images []string `json:"images,omitempty"`
}

func init() {
	schema.Document("bundle", keepSource)
	language.Extend("bundle", language.Experiment, language.Extension[experiment.Spec]{
		Args: schema.Args[keepArgs],
		Decode: func(_ *language.Decoder, b language.Block, s *experiment.Spec) {
			var v keepArgs
			b.Fill(&v)
			s.Parts = append(s.Parts, v)
		},
	})
	stages.Register(&stages.Stage{Name: "inputs", Writes: []stages.Artifact{"inputs"}, Files: []string{InputsFile, InputsDir},
		Run: keep})
	record.RegisterCopies(copies)
}

// keep copies the input files of a run into its folder. If the run itself reads such copies, keep does nothing.
func keep(ctx context.Context, r *stages.Run) error {
	spec := r.File()
	to := filepath.Join(r.Dir, InputsDir)
	in, err := inputsOf(spec)
	if err != nil {
		return err
	}
	if abs, err := filepath.Abs(to); err == nil && below(abs, filepath.Join(in.root, in.place(spec.File))) {
		return nil
	}
	before, _ := kept(r.Dir) // a missing list means no earlier copies
	now := Kept{File: in.place(spec.File), Root: in.root, Images: digests(r, in.images)}
	for _, path := range in.paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := in.describe(path)
		if err != nil {
			one.Left = "it cannot be read: " + err.Error()
		} else if !below(in.root, path) {
			one.Left = "it is on another volume"
		}
		now.Inputs = append(now.Inputs, one)
	}
	most, _ := experiment.PartOf[keepArgs](spec.Parts)
	now.bound(most.Most)
	if err := now.write(to, before, spec.Source); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return fmt.Errorf("list the inputs: %w", err)
	}
	if text := now.missing(most.Most); text != "" {
		r.Warn("inputs", "", text)
	}
	return folder.Write(filepath.Join(r.Dir, InputsFile), append(raw, '\n'), 0o644)
}

// bound excludes the largest files from copying, until the others have at most this many bytes.
func (k *Kept) bound(most int64) {
	order := make([]*Input, 0, len(k.Inputs))
	for i := range k.Inputs {
		if k.Inputs[i].Left == "" {
			order = append(order, &k.Inputs[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *Input) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for i, in := range order {
		switch most -= in.Bytes; {
		case most < 0:
			in.Left = "the copies would be larger than keep_inputs"
		case i >= mostInputs:
			in.Left = fmt.Sprintf("there are %d copies already", mostInputs)
		}
	}
}

// missing returns a warning that names input files without a copy; empty if all have one.
func (k *Kept) missing(most int64) string {
	n, size, largest := 0, int64(0), Input{}
	for _, in := range k.Inputs {
		if in.Left == "" {
			continue
		}
		n, size = n+1, size+in.Bytes
		if n == 1 || in.Bytes > largest.Bytes {
			largest = in
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the results have no copy of %s (%s in all), such as %s, so another machine cannot run the experiment from "+
		"this folder alone; keep_inputs in the experiment block limits the size of all copies, now to %s",
		schema.Plural(n, "input file"), inWords(size), largest.From, schema.FormatSize(most))
}

// inWords writes a number of bytes for people: "1.2 GiB".
func inWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return schema.Plural(int(n), "byte")
}

// write copies the inputs into the folder to, and deletes copies of an earlier run that are not inputs any more.
func (k *Kept) write(to string, before Kept, source []byte) error {
	there := map[string]string{}
	for _, in := range before.Inputs {
		if in.Left == "" {
			there[in.Path] = in.SHA256
		}
	}
	wanted := map[string]bool{k.File: true}
	for _, in := range k.Inputs {
		wanted[in.Path] = in.Left == ""
	}
	// Delete copies of an earlier run, and partial ones.
	err := filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(to, path)
		if err == nil && !e.IsDir() && !wanted[filepath.ToSlash(name)] {
			return folder.Remove(path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the copies of earlier inputs: %w", err)
	}
	if err := put(to, k.File, 0o644, strings.NewReader(string(source))); err != nil {
		return err
	}
	for _, in := range k.Inputs {
		if in.Left != "" || there[in.Path] == in.SHA256 && same(to, in) {
			continue
		}
		f, err := folder.OpenFile(in.From, os.O_RDONLY, 0)
		if err != nil {
			return fmt.Errorf("copy an input: %w", err)
		}
		mode := os.FileMode(0o644)
		if info, err := f.Stat(); err == nil {
			mode = info.Mode().Perm()&^0o022 | 0o600
		}
		if err := errors.Join(put(to, in.Path, mode, f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether the copy exists and has the right size. It does not compare the content.
func same(to string, in Input) bool {
	info, err := os.Lstat(filepath.Join(to, filepath.FromSlash(in.Path)))
	return err == nil && info.Mode().IsRegular() && info.Size() == in.Bytes
}

// put writes content to a file in a folder.
func put(to, place string, mode os.FileMode, content io.Reader) error {
	path := filepath.Join(to, filepath.FromSlash(place))
	if err := folder.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("copy an input: %w", err)
	}
	err := folder.WriteFrom(path, mode, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return err
	})
	if err != nil {
		return fmt.Errorf("copy an input to %s: %w", path, err)
	}
	return nil
}

// digests adds digests to the names of images, as far as the keys of cells contain them.
func digests(r *stages.Run, images []string) []string {
	if len(images) == 0 {
		return nil
	}
	found := map[string]string{}
	for i := range r.Plan.Cells {
		for line := range strings.Lines(r.Description(i)) {
			for _, image := range images {
				if _, rest, ok := strings.Cut(line, ".image: "+image+" "); ok {
					found[image] = " " + strings.TrimSpace(rest)
				}
			}
		}
	}
	return schema.Each(images, func(image string) string { return image + found[image] })
}

// kept reads inputs.json in a folder of results.
func kept(dir string) (k Kept, ok bool) {
	return k, folder.ReadJSON(dir, &k, InputsFile) == nil && filepath.IsLocal(filepath.FromSlash(k.File))
}

// copies returns the copies of the inputs in a folder of results.
func copies(dir string) (c record.Copy, ok bool) {
	k, ok := kept(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	c = record.Copy{From: k.Root, To: filepath.Join(dir, InputsDir)}
	c.File = filepath.Join(c.To, filepath.FromSlash(k.File))
	if _, err := os.Stat(c.File); !ok || err != nil {
		return record.Copy{}, false
	}
	_, err := os.Stat(filepath.Join(k.Root, filepath.FromSlash(k.File)))
	c.Needed = err != nil || slices.ContainsFunc(k.Inputs, func(in Input) bool {
		_, err := os.Stat(in.From)
		return err != nil
	})
	return c, true
}
