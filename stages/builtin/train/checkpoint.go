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

// checkpoint is the content of the file, after the SHA-256 of the rest.
type checkpoint struct {
	Config string // digest of the configuration that it belongs to
	State  state
}

// digest identifies the settings that a checkpoint must match: all settings
// except the ones that can change while the program trains. The length, the
// threads and the roles are no settings.
func (c config) digest() string {
	c.batch, c.learningRate = 0, 0
	sum := sha256.Sum256(fmt.Appendf(nil, "version %d %+v", Version, c))
	return hex.EncodeToString(sum[:])
}

// errOther is the error for a checkpoint of another configuration.
var errOther = errors.New("it is of another configuration")

// writeCheckpoint leaves s at path, whole or not at all.
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

// readCheckpoint returns the state that writeCheckpoint wrote to path for a
// training of c. The error is fs.ErrNotExist if there is no checkpoint.
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

// fits reports whether s can be the state of a training of c.
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

// removeCheckpoint takes away the checkpoint of a finished training.
func removeCheckpoint(path string) error {
	if err := folder.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove checkpoint: %w", err)
	}
	return nil
}
