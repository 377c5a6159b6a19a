package instantiate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// describe adds the key lines of a job's program and length.
func (x *Experiment) describe(k *store.Key, j *experiment.Job) {
	x.program(k, j)
	if !j.Open() {
		k.Add("job."+j.Name+"."+lengthUnit(j), strconv.Itoa(j.Length()))
	}
	k.Given("job."+j.Name+".budget", j.Budget)
}

// program adds the key lines of a job's program, with the content of its files, and of its request; its length is
// left out.
func (x *Experiment) program(k *store.Key, j *experiment.Job) {
	label := func(s string) string { return "job." + j.Name + "." + s }
	x.source(k, j)
	heldLines(k, j)
	if j.Malleable {
		k.Addf(label("malleable"), "%d to %d", j.Threads.Min, j.Threads.Max)
	}
	k.Given(label("limit"), j.Limit)
	experiment.EachPart(j.Parts, func(p stages.ProgressPart) { k.AddAll(p.ProgressLines(label(""))) })
	k.Given(label("retries"), j.Retries)
	experiment.EachPart(j.Parts, func(p stages.KeyPart) { k.AddAll(p.KeyLines(label(""))) })
}

// source adds the key lines of a job's command and of the content of its files.
func (x *Experiment) source(k *store.Key, j *experiment.Job) {
	x.remembered(k, sourceOf{j}, func(k *store.Key) { x.sourceLines(k, j) })
}

type sourceOf struct{ job *experiment.Job }

func (x *Experiment) sourceLines(k *store.Key, j *experiment.Job) {
	label := func(s string) string { return "job." + j.Name + "." + s }
	if of, other := experiment.PartOf[stages.ProgramPart](j.Parts); other {
		k.AddAll(of.ProgramLines(label("")))
	} else {
		k.Addf(label("command"), "%q", j.Command)
		if !x.places[j].contained() {
			k.Add(label("dir"), x.relative(j.Dir))
		}
		for _, e := range j.Env {
			k.Add(label("env."+e.Name), e.Value)
		}
		k.Add(label("flags"), strconv.FormatBool(j.Flags))
		for _, f := range x.inputs(j) {
			k.Addf(label("file."+filepath.Base(f)), "%s %s", x.relative(f), x.digest(f))
		}
	}
	if in := x.places[j]; in != nil {
		x.placeLines(k, in, j)
	}
}

// heldLines adds the key lines of the resources that a job holds while it runs.
func heldLines(k *store.Key, j *experiment.Job) {
	label := func(s string) string { return "job." + j.Name + "." + s }
	k.Addf(label("threads"), "%d (inter %d, intra %d)", j.Threads.Request, j.Threads.Inter, j.Threads.Intra)
	k.Given(label("gpus"), j.GPUs)
	k.Given(label("memory"), j.Memory)
	if j.Nodes > 1 {
		k.Add(label("nodes"), strconv.Itoa(j.Nodes))
	}
	experiment.EachPart(j.Parts, func(p stages.HeldPart) { k.AddAll(p.HeldLines(label(""))) })
}

// relative returns a path relative to the experiment's folder if it is below that folder. So a folder that was moved
// or copied runs nothing again.
func (x *Experiment) relative(path string) string {
	if rel, err := filepath.Rel(x.base, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// inputs returns the files that a job with a command depends on: its program, arguments that name a file, and the
// files and folders that it declares.
func (x *Experiment) inputs(j *experiment.Job) []string {
	command := j.Command
	if x.places[j].contained() { // the program is in the image
		command = nil
	}
	return inputs(j.Dir, command, j.Files)
}

// inputs returns the files that a command in folder dir depends on, including declared ones.
func inputs(dir string, command, declared []string) []string {
	var files []string
	seen := map[string]bool{}
	find := func(path string, folders bool) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if st, err := os.Stat(path); err == nil && (st.Mode().IsRegular() || folders && st.IsDir()) && !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	for i, arg := range command {
		if i == 0 && !strings.ContainsRune(arg, filepath.Separator) {
			if arg, _ = exec.LookPath(arg); arg == "" {
				continue
			}
		}
		find(arg, false)
	}
	for _, f := range declared {
		find(f, true)
	}
	return files
}

// launch returns how an engine starts a job. units is the length of this run, which is shorter than the job for a
// sample.
func (x *Experiment) launch(j *experiment.Job, name string, units int, logs, scratch string) launch.Job {
	out := launch.Job{
		Name: name, Dir: j.Dir, Place: fmt.Sprintf("%s line %d", j.Range.File, j.Range.Start.Line),
		LogPath:       filepath.Join(logs, name+".log"),
		ControlPath:   filepath.Join(scratch, name+".control"),
		CheckpointDir: filepath.Join(scratch, name+".checkpoint"),
		Threads:       j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra,
		Limit: j.Limit, Flags: j.Flags, GPUs: j.GPUs, Steps: j.Steps > 0,
		Memory: j.Memory, Container: j.Container, Length: units,
	}
	experiment.EachPart(j.Parts, func(p stages.LaunchPart) { p.Launch(&out) })
	if p, ok := experiment.PartOf[stages.ProgressPart](j.Parts); ok {
		out.Progress = p.Progress()
	}
	lengthVar := contract.EnvEpochs
	if j.Steps > 0 {
		lengthVar = contract.EnvSteps
	}
	if units > 0 {
		out.Env = append(out.Env, fmt.Sprintf("%s=%d", lengthVar, units))
	}
	for _, e := range j.Env {
		out.Env = append(out.Env, e.Name+"="+e.Value)
	}
	own, ok := experiment.PartOf[stages.OwnProgram](j.Parts)
	if !ok {
		out.Argv = append(out.Argv, j.Command...)
		return out
	}
	out.Argv = append([]string{x.self}, own.Arguments()...)
	out.ContainerArgv = append([]string{"tfexp"}, out.Argv[1:]...) // the image contains tfexp
	return out
}

// lengthUnit returns the unit of a job's length: epochs or steps.
func lengthUnit(j *experiment.Job) string {
	if j.Steps > 0 {
		return "steps"
	}
	return "epochs"
}

type digestOf string

// digest describes the content of a file or a folder for keys, or says that it cannot be read.
func (x *Experiment) digest(path string) string {
	return once(&x.known, digestOf(path), func() string {
		of := digestFile
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			of = digestFolder
		}
		d, err := of(path)
		if err != nil {
			return "unreadable"
		}
		return d
	})
}

// digestFile returns the SHA-256 of a file's content.
func digestFile(path string) (string, error) {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// digestFolder returns the number of files below a folder, their total size, and the SHA-256 of their names, sizes
// and contents. A link to a file counts as the file; a link to a folder counts only as the path of its target.
func digestFolder(dir string) (string, error) {
	h := sha256.New()
	n, size := 0, int64(0)
	err := experiment.Below(dir, func(name string, e fs.DirEntry) error {
		path, link := filepath.Join(dir, filepath.FromSlash(name)), ""
		if e.Type()&fs.ModeSymlink != 0 {
			var err error
			if link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		content, length := "", int64(0)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if content, err = digestFile(path); err != nil {
				return err
			}
			length = info.Size()
		}
		n, size = n+1, size+length
		fmt.Fprintf(h, "%q %q %d %s\n", name, link, length, content)
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d files, %d bytes, sha256:%s", n, size, hex.EncodeToString(h.Sum(nil))), nil
}
