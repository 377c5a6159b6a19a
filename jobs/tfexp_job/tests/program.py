"""A training program whose loss is the sum of the epochs that it has gone through."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import tfexp_job  # noqa: E402

mode, settings = sys.argv[1], sys.argv[2]
job = tfexp_job.start(epochs=3, settings={"case": settings})
total = 0
if job.checkpoint:
    with open(os.path.join(job.checkpoint, "total")) as f:
        total = int(f.read())


def save(folder):
    with open(os.path.join(folder, "total"), "w") as f:
        f.write(str(total))


def follow(inter, intra):
    print("now %d and %d" % (inter, intra), flush=True)


print("process %d begins with %d and %d" % (os.getpid(), job.inter, job.intra), flush=True)
def change(name, value):
    if name == "seed":
        raise tfexp_job.Refused("it is fixed")


def deepen(block):
    if block > 1:
        raise tfexp_job.Refused("there is no block %d" % block)
    return 2, 0.5, 0.5


resize = {"follow": follow, "restart": tfexp_job.RESTART}.get(mode)
requests = {"change": change, "deepen": deepen} if mode == "requests" else {}
for done in job.train(save, resize, every=2 if mode == "every" else 0, **requests):
    time.sleep(0.02)
    if mode == "every" and done == 3:
        os._exit(9)
    total += done + 1
    if job.steps is None:
        job.epoch(loss=total, accuracy=0.5, steps=10)
    else:
        job.step(loss=total)
if job.time_left is not None:
    job.final(0.5)
job.end()
