#!/usr/bin/env python3
"""Train a convolutional network on handwritten digits with PyTorch, as a job of tfexp.

PyTorch can change its intra-op threads during training. --variant malleable adopts
the job's allotment between two steps; --variant original keeps its first number of
threads. Inter-op threads are fixed at the start; this network has no branches
that would use them.
"""

import copy
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Modules in sibling folders come before installed ones.
sys.path[1:1] = [HERE, os.path.join(HERE, "..", "digits"), os.path.join(HERE, "..", "tfexp_job")]

# Threads that spin while they wait would take cores from one another after the
# job has lost cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import digits  # noqa: E402
import tfexp_job  # noqa: E402


def arguments():
    parser = digits.parser(__doc__.split("\n")[0], ["cnn", "cnn_bn"])
    parser.add_argument("--blocks", default="1,1,1", metavar="N,N,N",
                        help="layers of each block: two of convolutions, one of hidden layers (default 1,1,1)")
    parser.add_argument("--activation", choices=["relu", "tanh"], default="relu", help="behind each layer (default relu)")
    parser.add_argument("--restart-rate", type=float, default=0, metavar="RATE",
                        help="learning rate after a deepening (default: as before it)")
    args = digits.arguments(parser)
    try:
        args.blocks = [int(n) for n in args.blocks.split(",")]
    except ValueError:
        args.blocks = []
    if len(args.blocks) != 3 or min(args.blocks) < 1 or max(args.blocks) > 64:
        parser.error("--blocks must be three whole numbers from 1 to 64")
    if args.restart_rate < 0:
        parser.error("--restart-rate must be at least 0")
    return args


def main():
    args = arguments()
    own = {"blocks": args.blocks, "activation": args.activation, "restart_rate": args.restart_rate}
    job = tfexp_job.start(epochs=args.epochs, settings=dict(digits.settings(args), **own))

    try:
        import torch
        from torch import nn
    except ImportError as e:
        sys.exit("train.py: %s: on Debian, apt-get install python3-torch, and start the program by run.sh or /usr/bin/python3" % e)

    from network import Network, Refused

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
    model = Network(args.blocks, args.model == "cnn_bn", args.activation).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
    criterion = nn.CrossEntropyLoss()
    # An interrupted epoch continues at its next image.
    epoch = {"step": 0, "at": 0, "loss": 0.0}
    deepened = []  # blocks, in the order in which layers were added

    def save(folder):
        torch.save({"epoch": epoch, "deepened": deepened, "model": model.state_dict(), "optimizer": optimizer.state_dict()},
                   os.path.join(folder, "state.pt"))

    def add(modules):
        """Let the optimizer train new modules too; its state of the others is kept."""
        optimizer.add_param_group({"params": [p for m in modules for p in m.parameters()]})

    def accuracy(of):
        of.eval()
        with torch.no_grad():
            hits = float((of(held_images).argmax(1) == held_labels).float().mean())
        of.train()
        return hits

    def change(name, value):
        if name == "batch" and isinstance(value, int) and value > 0:
            args.batch = value
        elif name == "learning_rate" and isinstance(value, (int, float)) and value > 0:
            for group in optimizer.param_groups:
                group["lr"] = value
        elif name in ("batch", "learning_rate"):
            raise tfexp_job.Refused("%r is not above 0" % (value,))
        else:
            raise tfexp_job.Refused("no such setting can change while the program trains: there are batch and learning_rate")

    def deepen(block):
        if model.nothing(block):
            return None
        before = accuracy(model)
        try:
            add(model.deepen(block, images))
        except Refused as e:
            raise tfexp_job.Refused(str(e))
        deepened.append(block)
        if args.restart_rate:
            for group in optimizer.param_groups:
                group["lr"] = args.restart_rate
        return model.layers(block), before, accuracy(model)

    if job.checkpoint:
        state = torch.load(os.path.join(job.checkpoint, "state.pt"), map_location=device)
        epoch = state["epoch"]
        for block in state["deepened"]:
            deepened.append(block)
            add(model.grow(block))
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])

    def done(order):
        """Whether the epoch or the job is finished."""
        return epoch["at"] >= len(order) or job.steps is not None and job.done_steps + epoch["step"] >= job.steps

    finished = copy.deepcopy(model)  # after the last whole epoch
    resize = follow if args.variant == "malleable" else None
    for _ in job.train(save, resize, every=args.checkpoint_every, change=change, deepen=deepen):
        order = torch.from_numpy(digits.order(args, job.done_epochs, len(images)))
        while not done(order) and job.between_steps(epoch["step"]):
            batch = order[epoch["at"]:epoch["at"] + args.batch]
            optimizer.zero_grad()
            loss = criterion(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            epoch["loss"] += float(loss)
            epoch["step"] += 1
            epoch["at"] += len(batch)
        if job.spent:
            break
        loss, steps = epoch["loss"] / epoch["step"], epoch["step"]
        epoch.update(step=0, at=0, loss=0.0)
        job.epoch(loss=loss, accuracy=accuracy(model), steps=steps, lr=optimizer.param_groups[0]["lr"])
        if not job.spent and (job.time_left is not None or job.controlled):
            finished = copy.deepcopy(model)
    if job.time_left is not None:
        model = finished
        job.final(accuracy(model))
    job.end(save=(lambda: torch.save(model.state_dict(), args.save)) if args.save else None)


if __name__ == "__main__":
    main()
