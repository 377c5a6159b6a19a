package builtin

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// checkpointFile is the name of a checkpoint in TFEXP_CHECKPOINT_DIR.
const checkpointFile = "checkpoint"

// checkpoint is what the file holds, after the SHA-256 of the rest.
type checkpoint struct {
	Config string // digest of the configuration that it belongs to
	State  state
}

// digest identifies all that the course of a training hangs on: everything
// but its length and its threads.
func (c config) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "version %d %+v", Version, c))
	return hex.EncodeToString(sum[:])
}

// errOther says that a checkpoint is of another configuration.
var errOther = errors.New("it is of another configuration")

// writeCheckpoint leaves s at path, whole or not at all.
func writeCheckpoint(path string, c config, s state) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(checkpoint{c.digest(), s}); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	sum := sha256.Sum256(body.Bytes())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := renameio.WriteFile(path, append(sum[:], body.Bytes()...), 0o644); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// readCheckpoint returns what writeCheckpoint left at path for a trainer of c
// with the given number of parameters. The error is fs.ErrNotExist where there
// is none.
func readCheckpoint(path string, c config, params int) (state, error) {
	raw, err := os.ReadFile(path)
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
	if s := ck.State; s.Steps < 0 || len(s.Weights) != params || len(s.M) != params || c.optimizer == "adam" && len(s.V) != params {
		return state{}, damaged
	}
	return ck.State, nil
}

// removeCheckpoint takes away the checkpoint of a finished training.
func removeCheckpoint(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove checkpoint: %w", err)
	}
	return nil
}
