"""Stands for a training program: it fits a line by gradient descent, epoch by epoch.

What tfexp wants of a program is all here: it reads the number of epochs from TFEXP_EPOCHS, and prints a line after each,
so that tfexp can follow it. See jobs/README.md for what else there is.
"""

import json
import os
import random

EPOCHS = int(os.environ.get("TFEXP_EPOCHS", "40"))

random.seed(1)
DATA = [(x, 3 * x + 1 + random.gauss(0, 0.1)) for x in (random.random() for _ in range(20_000))]

slope = offset = 0.0
for epoch in range(1, EPOCHS + 1):
    by_slope = by_offset = loss = 0.0
    for x, y in DATA:
        error = slope * x + offset - y
        by_slope += 2 * error * x / len(DATA)
        by_offset += 2 * error / len(DATA)
        loss += error * error / len(DATA)
    slope -= 0.5 * by_slope
    offset -= 0.5 * by_offset
    print(json.dumps({"tfexp": {"epoch": epoch, "loss": loss}}), flush=True)
