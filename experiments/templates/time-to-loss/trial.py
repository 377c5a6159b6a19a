"""A stand-in for your training program: logistic regression on two noisy rings of points, by plain Python.

The settings that tfexp tries come as arguments; what the training reached is printed in lines that tfexp reads.
"""
import argparse
import json
import math
import os
import random

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--noise", type=float, default=0.0, help="of the gradients")
args = parser.parse_args()

epochs = int(os.environ.get("TFEXP_EPOCHS", "6"))
random.seed(1)
points = []
for _ in range(400):
    label = random.random() < 0.5
    radius, angle = random.gauss(2.0 if label else 1.0, 0.3), random.random() * 2 * math.pi
    x, y = radius * math.cos(angle), radius * math.sin(angle)
    points.append(([1.0, x * x, y * y, x * y], 1.0 if label else 0.0))
train, test = points[:300], points[300:]
weights = [0.0] * 4


def predict(x):
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, sum(w * v for w, v in zip(weights, x))))))


for epoch in range(1, epochs + 1):
    random.shuffle(train)
    loss = 0.0
    for at in range(0, len(train), args.batch):
        batch = train[at:at + args.batch]
        slope = [0.0] * 4
        for x, label in batch:
            p = predict(x)
            loss -= math.log(max(1e-9, p if label else 1 - p)) / len(train)
            for i, v in enumerate(x):
                slope[i] += (p - label) * v / len(batch)
        for i in range(4):
            weights[i] -= args.lr * (slope[i] + random.gauss(0, args.noise))
    accuracy = sum((predict(x) > 0.5) == (label > 0.5) for x, label in test) / len(test)
    print(json.dumps({"tfexp": {"epoch": epoch, "loss": loss, "accuracy": accuracy}}), flush=True)
