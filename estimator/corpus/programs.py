"""Programs of different nature for the corpus of run times.

    python3 programs.py NAME

Each runs TFEXP_EPOCHS units of work and reports them as jobs/README.md says, except the silent ones, which report
nothing.
"""
import os
import sys
import time

began = time.perf_counter()


def numpy_matrices():
    """Products of matrices, which use as many threads as OMP_NUM_THREADS says."""
    import numpy as np
    a = np.random.default_rng(1).standard_normal((300, 300))

    def unit(_):
        b = a
        for _ in range(2):
            b = a @ b
            b /= np.abs(b).max()
    return unit


def silent_numpy():
    """A regression by steps of gradient descent; it reports nothing."""
    import numpy as np
    x = np.random.default_rng(2).standard_normal((4000, 120))
    y = x @ np.arange(120.0)
    w = np.zeros(120)

    def unit(_):
        for _ in range(35):
            w[:] -= 1e-5 * (x.T @ (x @ w - y))
    return unit


def stream():
    """Sums over arrays that fit no cache: its speed is that of the memory."""
    import numpy as np
    a, b = np.ones(3_000_000), np.ones(3_000_000)

    def unit(_):
        for _ in range(8):
            np.add(a, b, out=b)
            np.multiply(b, 0.5, out=b)
    return unit


def interpreter():
    """Loops of the interpreter over small numbers."""
    def unit(_):
        s = 0
        for i in range(700_000):
            s = (s * 31 + i) & 0xFFFF
        return s
    return unit


def allocations():
    """Dictionaries, lists and strings that are made and dropped."""
    def unit(_):
        d = {}
        for i in range(45_000):
            d["key %d" % i] = [i, str(i), (i, i)]
        return sorted(d)[:3]
    return unit


def noisy():
    """Units of very different work, as of sequences of different lengths; drawn anew in each run."""
    import random
    r = random.Random()

    def unit(_):
        s = 0
        for i in range(int(550_000 * r.lognormvariate(0, 0.45))):
            s = (s * 31 + i) & 0xFFFF
        return s
    return unit


def cold():
    """A first unit that fills a cache and takes three times as long as later ones."""
    cache = {}

    def unit(n):
        for i in range(150_000):
            cache[i] = cache.get(i, 0) + i
        if n == 0:
            s = 0
            for i in range(1_000_000):
                s = (s * 31 + i) & 0xFFFF
        for i in range(150_000):
            cache[i] -= 1
    return unit


def silent_compression():
    """Compression; it reports nothing."""
    import random
    import zlib
    data = bytes(random.Random(3).choices(b"abcdefgh   \n", k=400_000))

    def unit(_):
        zlib.compress(data, 6)
    return unit


def waiting():
    """Half of a unit is work, the other half waits, as for data."""
    def unit(_):
        s = 0
        for i in range(350_000):
            s = (s * 31 + i) & 0xFFFF
        time.sleep(0.02)
        return s
    return unit


def late_start():
    """A long start that reads and prepares data, then short units."""
    import numpy as np
    import json
    rows = json.loads(json.dumps([{"x": i, "y": [i, i + 1]} for i in range(60_000)]))
    x = np.array([r["y"] for r in rows], dtype=float)

    def unit(_):
        for _ in range(8):
            np.sort(np.sin(x[:, 0]))
    return unit


def hashes():
    """Sums of files on disk, read anew each time."""
    import hashlib
    import tempfile
    f = tempfile.TemporaryFile()
    f.write(os.urandom(1 << 20) * 40)

    def unit(_):
        f.seek(0)
        h = hashlib.sha256()
        while block := f.read(1 << 16):
            h.update(block)
    return unit


def torch_layers():
    """A small network of PyTorch, whose start-up takes longer than many of its units."""
    import torch
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    step = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.randn(256, 64), torch.randint(0, 10, (256,))

    def unit(_):
        for _ in range(6):
            step.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            step.step()
    return unit


def main():
    name = sys.argv[1]
    unit = globals()[name]()
    epochs = int(os.environ["TFEXP_EPOCHS"])
    silent = name.startswith("silent")
    times = [time.perf_counter() - began]
    for n in range(epochs):
        start = time.perf_counter()
        unit(n)
        times.append(time.perf_counter() - start)
        if not silent:
            print('{"tfexp":{"epoch":%d,"seconds":%.6f}}' % (n + 1, times[-1]), flush=True)
    if not silent:
        times.append(0)
        print("<TIME_WRITTER_OUTPUT>" + str([round(t, 6) for t in times]) + "</TIME_WRITTER_OUTPUT>")


main()
