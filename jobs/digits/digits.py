"""The digits as NumPy arrays, and functions that training programs share.

The data are in digits.gz in this folder: 1,797 labels, then as many images of
8x8 pixels from 0 to 16, one byte each (ATTRIBUTION.md names the source).
"""

import argparse
import gzip
import os

import numpy as np

IMAGES, SIDE, CLASSES = 1797, 8, 10


def load(scale=1):
    """Return (images, labels) for training, and held-out (images, labels).

    Images are float32 of shape (n, side, side, 1) from 0 to 2, each pixel
    repeated scale times in both directions (side = 8 * scale); labels are int32.
    Every fifth image of each digit is held out.
    """
    with gzip.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits.gz")) as f:
        raw = np.frombuffer(f.read(), dtype=np.uint8)
    if raw.size != IMAGES * (1 + SIDE * SIDE):
        raise ValueError("digits.gz has %d bytes, want %d" % (raw.size, IMAGES * (1 + SIDE * SIDE)))
    labels = raw[:IMAGES].astype(np.int32)
    images = raw[IMAGES:].reshape(IMAGES, SIDE, SIDE, 1).astype(np.float32) / 8
    images = images.repeat(scale, axis=1).repeat(scale, axis=2)
    held = np.zeros(IMAGES, dtype=bool)
    for digit in range(CLASSES):
        held[np.flatnonzero(labels == digit)[::5]] = True
    return (images[~held], labels[~held]), (images[held], labels[held])


def parser(description, models):
    """Return the arguments of a program that trains one of these models."""
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--model", choices=models, default="cnn")
    p.add_argument("--variant", choices=["original", "malleable"], default="malleable",
                   help="whether to follow the job's allotment while it trains (default malleable)")
    p.add_argument("--epochs", type=int, default=10, help="where TFEXP_EPOCHS and TFEXP_STEPS are not set (default 10)")
    p.add_argument("--passes", type=int, default=1, help="passes over the data that make an epoch (default 1)")
    p.add_argument("--batch", type=int, default=64, help="images in a step (default 64)")
    p.add_argument("--learning-rate", type=float, default=1e-3, help="of Adam (default 0.001)")
    p.add_argument("--seed", type=int, default=1, help="of the weights and the order of the images (default 1)")
    p.add_argument("--checkpoint-every", type=int, default=0, metavar="N",
                   help="leave a checkpoint after each N epochs, not only when stopped")
    p.add_argument("--save", metavar="FILE", help="leave the trained network there")
    return p


def arguments(p):
    """Parse the command line; end the program if an argument is invalid."""
    a = p.parse_args()
    for name in ("epochs", "passes", "batch"):
        if getattr(a, name) < 1:
            p.error("--%s must be at least 1" % name)
    if a.learning_rate <= 0 or a.seed < 0 or a.checkpoint_every < 0:
        p.error("--learning-rate must be above 0, --seed and --checkpoint-every at least 0")
    return a


def settings(args):
    """The settings that affect the course of training. A checkpoint with other settings cannot be used."""
    return {name: getattr(args, name) for name in ("model", "passes", "batch", "learning_rate", "seed")}


def order(args, epoch, images):
    """Return the order of the images in an epoch; epochs count from 0."""
    return np.concatenate([np.random.default_rng([args.seed, epoch, k]).permutation(images) for k in range(args.passes)])


def steps_per_epoch(args, images):
    """Return the steps of an epoch; the last may have a smaller batch."""
    return -(-args.passes * images // args.batch)
