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
	// InputsDir has the copies of an experiment file and of the files that it reads, InputsFile the list of them.
	InputsDir  = "inputs"
	InputsFile = "inputs.json"

	// mostInputs bounds the number of copies.
	mostInputs = 5000
)

// keepArgs are the arguments of an experiment block about copies of its inputs.
type keepArgs struct {
	// How large the copies may be, all together, that results have of the files which the experiment reads: traces, tables,
	// programs. With them, a folder of results that is moved to another machine is resumed and run again there. Small
	// files are copied first; `inputs.json` lists all with their SHA-256, and says which have no copy.
	//
	//	keep_inputs = "2GiB"
	Most int64 `arg:"keep_inputs" default:"\"256MiB\""`
}

// Kept is inputs.json: the files that an experiment reads.
type Kept struct {
	// File is the place of the experiment file among the copies, Root the folder that the files have in common.
	File   string  `json:"file"`
	Root   string  `json:"root"`
	Inputs []Input `json:"inputs"`
	// Images are the images of containers, with their digests as far as they were found.
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

// keep copies the inputs of a run into its folder. A run that reads such copies keeps them as they are.
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
	before, _ := kept(r.Dir) // all is copied where it is missing or damaged
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

// bound leaves out the largest files, until the others have at most this number of bytes.
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

// missing says which inputs have no copy; empty where all have one.
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
	return fmt.Sprintf("the results have no copy of %s (%s in all), such as %s: on another machine, this experiment cannot be run with "+
		"this folder alone; keep_inputs in its experiment block, now %s, bounds the copies", schema.Plural(n, "input file"),
		inWords(size), largest.From, schema.FormatSize(most))
}

// inWords writes a size for people: "1.2 GiB".
func inWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return schema.Plural(int(n), "byte")
}

// write writes the copies, and removes copies of an earlier run that no longer belong to them.
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
	err := filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error { // copies for an earlier run, or broken off
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

// same reports whether a copy is there, by its size.
func same(to string, in Input) bool {
	info, err := os.Lstat(filepath.Join(to, filepath.FromSlash(in.Path)))
	return err == nil && info.Mode().IsRegular() && info.Size() == in.Bytes
}

// put writes a file at a place in a folder.
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

// digests adds the digests to images: the keys of cells have them.
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

// kept reads the list of the copies in a folder of results.
func kept(dir string) (k Kept, ok bool) {
	return k, folder.ReadJSON(dir, &k, InputsFile) == nil && filepath.IsLocal(filepath.FromSlash(k.File))
}

// copies finds the copies in a folder of results.
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
