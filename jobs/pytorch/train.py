#!/usr/bin/env python3
"""Train a convolutional network on handwritten digits with PyTorch, as a job of tfexp.

PyTorch changes its intra-op threads while it trains: --variant malleable follows
the job's allotment between two steps; --variant original keeps the threads that
it began with. Inter-op threads are fixed at the start, and this network has no
branches that would use them.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The library is beside this folder, or installed.
sys.path += [os.path.join(HERE, "..", "digits"), os.path.join(HERE, "..", "tfexp_job")]

# Threads that spin while they wait would take the cores from one another when
# the job is left with fewer of them.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import digits  # noqa: E402
import tfexp_job  # noqa: E402


def network(nn):
    """Two 3x3 convolutions, pooling, and a hidden layer; logits of ten classes."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64 * 4 * 4, 128), nn.ReLU(),
        nn.Linear(128, 10),
    )


def main():
    args = digits.arguments(digits.parser(__doc__.split("\n")[0], ["cnn"]))
    job = tfexp_job.start(epochs=args.epochs, settings=digits.settings(args))

    try:
        import torch
        from torch import nn
    except ImportError as e:
        sys.exit("train.py: %s: on Debian, apt-get install python3-torch, and start the program by run.sh or /usr/bin/python3" % e)

    def follow(inter, intra):
        torch.set_num_threads(intra)
        print("pytorch: intra-op threads %d" % torch.get_num_threads(), flush=True)

    inter, intra = job.allotment()
    torch.set_num_interop_threads(inter)
    print("pytorch %s: inter-op threads %d, GPUs %d" % (torch.__version__, torch.get_num_interop_threads(), torch.cuda.device_count()), flush=True)
    follow(inter, intra)
    torch.manual_seed(args.seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    device = "cuda" if job.gpus and torch.cuda.is_available() else "cpu"

    def tensors(images, labels):
        return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous().to(device), torch.from_numpy(labels).long().to(device)

    (images, labels), (held_images, held_labels) = (tensors(*part) for part in digits.load())
    model = network(nn).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
    criterion = nn.CrossEntropyLoss()
    # An epoch that was interrupted goes on at its next step.
    epoch = {"step": 0, "loss": 0.0}
    per_epoch = digits.steps_per_epoch(args, len(images))

    def save(folder):
        torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, os.path.join(folder, "state.pt"))

    if job.checkpoint:
        state = torch.load(os.path.join(job.checkpoint, "state.pt"), map_location=device)
        epoch = state["epoch"]
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])

    for done in job.train(save, follow if args.variant == "malleable" else None, every=args.checkpoint_every):
        number = done if job.steps is None else done // per_epoch
        order = torch.from_numpy(digits.order(args, number, len(images)))
        steps = job.steps_left(per_epoch)
        while epoch["step"] < steps:
            if job.stopping:
                job.stop()
            job.follow()
            at = epoch["step"] * args.batch
            batch = order[at:at + args.batch]
            optimizer.zero_grad()
            loss = criterion(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            epoch["loss"] += float(loss)
            epoch["step"] += 1
        loss = epoch["loss"] / steps
        epoch.update(step=0, loss=0.0)
        with torch.no_grad():
            accuracy = float((model(held_images).argmax(1) == held_labels).float().mean())
        job.epoch(loss=loss, accuracy=accuracy, steps=steps)
    job.end(save=(lambda: torch.save(model.state_dict(), args.save)) if args.save else None)


if __name__ == "__main__":
    main()
