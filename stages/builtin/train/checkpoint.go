package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// checkpointFile is the name of a checkpoint in TFEXP_CHECKPOINT_DIR.
const checkpointFile = "checkpoint"

// checkpoint is the content of a checkpoint's file. Before it, the file has the SHA-256 of the content.
type checkpoint struct {
	Config string // digest of the configuration to which it belongs
	State  state
}

// digest returns the hash of the settings that must be the same to continue from a checkpoint. Settings that can change
// while the program trains are left out. Length, threads and roles are not settings.
func (c config) digest() string {
	c.batch, c.learningRate = 0, 0
	sum := sha256.Sum256(fmt.Appendf(nil, "version %d %+v", Version, c))
	return hex.EncodeToString(sum[:])
}

// errOther is the error for a checkpoint of a training with another configuration.
var errOther = errors.New("it was written with other settings")

// writeCheckpoint writes the state s of a training of c to path. It replaces the file at once, so that no incomplete
// file can remain.
func writeCheckpoint(path string, c config, s state) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(checkpoint{c.digest(), s}); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	sum := sha256.Sum256(body.Bytes())
	if err := folder.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := folder.Write(path, append(sum[:], body.Bytes()...), 0o644); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// readCheckpoint returns the state that writeCheckpoint wrote to path. The error is fs.ErrNotExist if there is no
// checkpoint, and errOther if it was written with other settings than c.
func readCheckpoint(path string, c config) (state, error) {
	raw, err := folder.ReadFile(filepath.Split(path))
	if err != nil {
		return state{}, fmt.Errorf("read checkpoint: %w", err)
	}
	damaged := fmt.Errorf("read checkpoint %s: it is damaged", path)
	if len(raw) < sha256.Size {
		return state{}, damaged
	}
	body := raw[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], raw[:sha256.Size]) {
		return state{}, damaged
	}
	var ck checkpoint
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&ck); err != nil {
		return state{}, fmt.Errorf("read checkpoint %s: %w", path, err)
	}
	if ck.Config != c.digest() {
		return state{}, fmt.Errorf("read checkpoint %s: %w", path, errOther)
	}
	if !ck.State.fits(c) {
		return state{}, damaged
	}
	return ck.State, nil
}

// fits reports whether s is a possible state of a training of c.
func (s state) fits(c config) bool {
	if s.Steps < 0 || s.Pass < 0 || s.At < 0 {
		return false
	}
	if s.Blocks != nil {
		if len(s.Blocks) != len(c.depths()) || slices.Min(s.Blocks) < 1 || slices.Max(s.Blocks) > maxDepth {
			return false
		}
		c.blocks = s.Blocks
	}
	n := network.New(c.shape()).Params()
	return len(s.Weights) == n && len(s.M) == n && (c.optimizer != "adam" || len(s.V) == n)
}

// removeCheckpoint removes the checkpoint of a finished training.
func removeCheckpoint(path string) error {
	if err := folder.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove checkpoint: %w", err)
	}
	return nil
}
