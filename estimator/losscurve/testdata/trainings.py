"""Trains small models and writes the loss of each epoch to trainings.csv.

    python3 -m venv DIR && DIR/bin/pip install numpy==2.4.6 scikit-learn==1.9.1
    DIR/bin/python trainings.py

A row is a training: its set, its name, its target, and its losses up to the first at or below the target. The
trainings of the set "known" are written with numpy; constants of the models may be chosen on them. Those of the set
"held out" are scikit-learn's, on other data: no constant is chosen on them.

Everything is drawn: data, settings, what a program reports (the mean loss of the batches of an epoch, the loss of all
rows, or that of a sample), and when the rate of learning drops. No drop is announced.
"""

import csv
import math
import warnings

import numpy as np

EPOCHS = 220


def log_uniform(r, low, high):
    return float(np.exp(r.uniform(math.log(low), math.log(high))))


def course(r):
    """Returns the name of a course of the rate, and its factor at an epoch."""
    kind = r.choice(["constant", "drop", "drops", "decay", "warm"], p=[0.4, 0.25, 0.15, 0.1, 0.1])
    at, by = log_uniform(r, 12, 110), log_uniform(r, 0.08, 0.5)
    return str(kind), {
        "constant": lambda e: 1.0,
        "drop": lambda e: by if e >= at else 1.0,
        "drops": lambda e: by ** min(e // at, 3),
        "decay": lambda e: 1 / (1 + e / at),
        "warm": lambda e: min((e + 1) / (at / 4 + 1), 1),
    }[kind]


def ended(r, losses):
    """Returns the losses up to a drawn target, and the target; None where too few epochs are left."""
    losses = np.asarray(losses)
    if not np.all(np.isfinite(losses)) or losses.min() <= 0:
        return None
    end = int(log_uniform(r, 30, 180))
    target = float(losses[: end + 1].min())
    if r.random() < 0.5:  # what the training reaches for good, not by one lucky report
        near = losses[max(end - 3, 0) : end + 4]
        target = float(np.exp(np.log(near).mean()))
    target = float(f"{target:.4g}")
    losses = [float(f"{v:.5g}") for v in losses]
    n = next((i + 1 for i, v in enumerate(losses) if v <= target), len(losses))
    if n < 25 or n == len(losses) or losses[0] < 1.15 * target:
        return None
    return target, losses[:n]


# Trainings with numpy.


def softmax(z):
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


class Model:
    """Weights with a gradient: one or two layers, for classes or for numbers."""

    def __init__(self, r, inputs, hidden, outputs, scale, classes):
        sizes = [inputs] + hidden + [outputs]
        self.w = [r.normal(0, scale / math.sqrt(a), (a, b)) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]
        self.classes = classes
        self.v = [np.zeros_like(p) for p in self.w + self.b]

    def forward(self, x):
        layers = [x]
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            x = x @ w + b
            if i < len(self.w) - 1:
                x = np.tanh(x)
            layers.append(x)
        return layers

    def loss(self, x, y):
        out = self.forward(x)[-1]
        if self.classes:
            return float(-np.log(softmax(out)[np.arange(len(y)), y] + 1e-12).mean())
        return float(((out - y) ** 2).mean())

    def step(self, x, y, rate, momentum):
        layers = self.forward(x)
        if self.classes:
            d = softmax(layers[-1])
            d[np.arange(len(y)), y] -= 1
            d /= len(y)
        else:
            d = 2 * (layers[-1] - y) / y.size
        grads_w, grads_b = [], []
        for i in reversed(range(len(self.w))):
            grads_w.insert(0, layers[i].T @ d)
            grads_b.insert(0, d.sum(axis=0))
            if i > 0:
                d = d @ self.w[i].T * (1 - layers[i] ** 2)
        for i, (p, g) in enumerate(zip(self.w + self.b, grads_w + grads_b)):
            self.v[i] = momentum * self.v[i] - rate * g
            p += self.v[i]


def data(r, kind, n, inputs):
    """Returns rows, and what is to be learned of them, with its number of outputs."""
    spectrum = np.arange(1, inputs + 1) ** -r.uniform(0, 1)
    x = r.normal(size=(n, inputs)) * spectrum
    if kind == "classes":
        k = int(r.integers(2, 8))
        means = r.normal(size=(k, inputs)) * r.uniform(0.3, 1.5)
        y = r.integers(0, k, n)
        x = x + means[y] * spectrum
        wrong = r.random(n) < r.choice([0, 0, 0.05, 0.2])
        return x, np.where(wrong, r.integers(0, k, n), y), k
    k = int(r.integers(1, 4))
    noise = r.choice([0.02, 0.2, 0.8])
    if kind == "line":
        return x, x @ r.normal(size=(inputs, k)) + noise * r.normal(size=(n, k)), k
    if kind == "copy":
        low = r.normal(size=(n, 4)) @ r.normal(size=(4, inputs)) * spectrum
        return low, low + noise / 4 * r.normal(size=(n, inputs)), inputs
    inner = np.tanh(x @ r.normal(size=(inputs, 6)))
    return x, inner @ r.normal(size=(6, k)) + noise / 4 * r.normal(size=(n, k)), k


def known(r):
    kind = str(r.choice(["classes", "line", "copy", "teacher"]))
    n, inputs = int(log_uniform(r, 150, 900)), int(log_uniform(r, 5, 40))
    x, y, outputs = data(r, kind, n, inputs)
    hidden = [] if kind == "line" or kind == "classes" and r.random() < 0.5 else [int(log_uniform(r, 4, 40))]
    scale = r.choice([0.05, 0.3, 1]) if hidden else 0.1
    model = Model(r, inputs, hidden, outputs, scale, kind == "classes")
    rate, momentum = log_uniform(r, 0.003, 0.2), float(r.choice([0, 0, 0.9]))
    rate *= (1 - momentum) * (1 if kind != "classes" else 2)
    batch = int(log_uniform(r, 8, 128))
    name, factor = course(r)
    report = str(r.choice(["batches", "all", "sample"]))
    losses = []
    for epoch in range(EPOCHS):
        order, seen = r.permutation(n), []
        for i in range(0, n, batch):
            part = order[i : i + batch]
            seen.append(model.loss(x[part], y[part]))
            model.step(x[part], y[part], rate * factor(epoch), momentum)
        part = r.integers(0, n, 100) if report == "sample" else slice(None)
        losses.append(np.mean(seen) if report == "batches" else model.loss(x[part], y[part]))
    return f"{kind} {len(hidden)} {name} {report}", losses


# Trainings with scikit-learn.


def held_out(r):
    from sklearn import datasets, linear_model, metrics, neural_network, preprocessing

    seed = int(r.integers(1 << 30))
    classes = {
        "digits": lambda: datasets.load_digits(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "iris": lambda: datasets.load_iris(return_X_y=True),
        "moons": lambda: datasets.make_moons(400, noise=0.25, random_state=seed),
        "classification": lambda: datasets.make_classification(
            600, 20, n_informative=8, n_classes=4, flip_y=0.05, random_state=seed),
    }
    numbers = {
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "regression": lambda: datasets.make_regression(400, 20, n_informative=10, noise=20, random_state=seed),
        "friedman": lambda: datasets.make_friedman1(500, noise=1, random_state=seed),
    }
    of = classes if r.random() < 0.6 else numbers
    name = str(r.choice(sorted(of)))
    x, y = of[name]()
    x = preprocessing.StandardScaler().fit_transform(x)
    if of is numbers:
        y = (y - y.mean()) / y.std()
    layers = tuple(int(log_uniform(r, 8, 64)) for _ in range(int(r.integers(1, 3))))
    deep, batch = r.random() < 0.55, min(int(log_uniform(r, 16, 128)), len(x))
    solver = str(r.choice(["adam", "sgd"]))
    if deep:
        kind = neural_network.MLPClassifier if of is classes else neural_network.MLPRegressor
        rate = log_uniform(r, 0.0003, 0.01) if solver == "adam" else log_uniform(r, 0.002, 0.1)
        model = kind(hidden_layer_sizes=layers, solver=solver, learning_rate_init=rate, batch_size=batch, random_state=seed,
                     activation=str(r.choice(["relu", "tanh", "logistic"])), alpha=log_uniform(r, 1e-5, 1e-2))
    else:
        solver, rate = "line", log_uniform(r, 0.00003, 0.003)
        kind = linear_model.SGDClassifier if of is classes else linear_model.SGDRegressor
        model = kind(loss="log_loss" if of is classes else "squared_error", learning_rate="constant", eta0=rate,
                     random_state=seed, alpha=1e-5)
    drop, factor = course(r)
    report = str(r.choice(["batches", "all", "sample"]))
    losses = []
    for epoch in range(EPOCHS):
        now = rate * factor(epoch)
        if not deep:
            model.set_params(eta0=now)
        elif epoch > 0:
            model._optimizer.learning_rate_init = model._optimizer.learning_rate = now
        order = r.permutation(len(x))
        if of is classes:
            model.partial_fit(x[order], y[order], classes=np.unique(y))
        else:
            model.partial_fit(x[order], y[order])
        if report == "batches" and deep:
            losses.append(model.loss_)
            continue
        part = r.integers(0, len(x), 120) if report == "sample" else slice(None)
        if of is classes:
            losses.append(metrics.log_loss(y[part], model.predict_proba(x[part]), labels=np.unique(y)))
        else:
            losses.append(metrics.mean_squared_error(y[part], model.predict(x[part])))
    return f"{name} {solver} {drop} {report}", losses


def main():
    warnings.simplefilter("ignore")
    with open("trainings.csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["set", "name", "target", "losses"])
        for name, train, count, seed in [("known", known, 120, 1), ("held out", held_out, 60, 2)]:
            r, n = np.random.default_rng(seed), 0
            while n < count:
                title, losses = train(r)
                one = ended(r, losses)
                if one:
                    n += 1
                    out.writerow([name, f"{n} {title}", one[0], " ".join(f"{v:.5g}" for v in one[1])])


if __name__ == "__main__":
    main()
