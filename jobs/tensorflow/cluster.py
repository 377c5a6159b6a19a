"""Training in parts, by TensorFlow's ParameterServerStrategy (train.py runs it for jobs with roles).

The chief assigns steps to workers, which compute them without waiting for each
other. The weights are on the parameter servers. Parameter servers and workers
run until they are asked to end, or the chief has ended.
"""

import json
import os
import signal
import socket
import sys
import threading
import time

# How long a part waits for a chief that is lost or was never started, in seconds.
GONE_AFTER, COMES_WITHIN = 10.0, 600.0


def environment(job):
    """Set TF_CONFIG from the job's cluster, unless it is set."""
    for role in ("chief", "worker", "ps"):
        if not job.cluster.get(role):
            sys.exit("train.py: a cluster of TensorFlow needs the roles chief, worker and ps, and has no %s" % role)
    os.environ.setdefault("TF_CONFIG", json.dumps({"cluster": job.cluster, "task": {"type": job.role, "index": job.task}}))


def serve(job, tf):
    """Run a worker or a parameter server."""
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=max(job.inter, 2), intra_op_parallelism_threads=job.intra)
    server = tf.distribute.Server(tf.train.ClusterSpec(job.cluster), job_name=job.role, task_index=job.task, protocol="grpc", config=config)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    host, port = job.cluster["chief"][0].rsplit(":", 1)
    print("tensorflow %s: %s %d serves" % (tf.__version__, job.role, job.task), flush=True)
    seen, known = time.monotonic(), False
    while not ended.wait(1):
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
            seen, known = time.monotonic(), True
        except OSError:
            if time.monotonic() - seen > (GONE_AFTER if known else COMES_WITHIN):
                print("train.py: the chief (%s) is gone" % job.cluster["chief"][0], file=sys.stderr, flush=True)
                os._exit(1)
    del server
    os._exit(143)  # TensorFlow's threads would not end


class Network:
    """The network of models.cnn (two 3x3 convolutions, pooling, a hidden layer) with Adam, built from plain variables."""

    SHAPES = [(3, 3, 1, 32), (32,), (3, 3, 32, 64), (64,), (64 * 16, 128), (128,), (128, 10), (10,)]

    def __init__(self, tf, np, seed, rate):
        self.tf = tf
        random = np.random.default_rng(seed)
        self.weights = []
        for shape in self.SHAPES:
            value = np.zeros(shape, np.float32)
            if len(shape) > 1:
                value = random.normal(0, (2 / np.prod(shape[:-1])) ** 0.5, shape).astype(np.float32)
            self.weights.append(tf.Variable(value))
        self.mean = [tf.Variable(np.zeros(s, np.float32)) for s in self.SHAPES]
        self.square = [tf.Variable(np.zeros(s, np.float32)) for s in self.SHAPES]
        self.steps = tf.Variable(0, dtype=tf.int64)
        self.rate = rate

    @property
    def variables(self):
        return self.weights + self.mean + self.square + [self.steps]

    def logits(self, x, w):
        tf = self.tf
        x = tf.nn.relu(tf.nn.conv2d(x, w[0], 1, "SAME") + w[1])
        x = tf.nn.relu(tf.nn.conv2d(x, w[2], 1, "SAME") + w[3])
        x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), [-1, 64 * 16])
        return tf.nn.relu(x @ w[4] + w[5]) @ w[6] + w[7]

    def step(self, x, y):
        """One step of Adam on a batch; returns its loss."""
        tf = self.tf
        w = [tf.convert_to_tensor(v) for v in self.weights]
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, self.logits(x, w)))
        t = tf.cast(self.steps.assign_add(1), tf.float32)
        scale = self.rate * tf.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        for g, v, m, s in zip(tape.gradient(loss, w), self.weights, self.mean, self.square):
            m.assign_add(0.1 * (g - m))
            s.assign_add(0.001 * (g * g - s))
            v.assign_sub(scale * m / (tf.sqrt(s) + 1e-8))
        return loss


def lead(job, args, tf, np, digits):
    """Run the chief."""
    if args.model != "cnn":
        sys.exit("train.py: in a cluster the model is cnn")
    servers = len(job.cluster["ps"])
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    (images, labels), (held, held_labels) = digits.load(1)
    with strategy.scope():
        network = Network(tf, np, args.seed, args.learning_rate)
    print("tensorflow %s: %d parameter servers, %d workers" % (tf.__version__, servers, len(job.cluster["worker"])), flush=True)

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 1], tf.float32), tf.TensorSpec([None], tf.int32)])
    def step(x, y):
        return network.step(x, y)

    def save(folder):
        np.savez(os.path.join(folder, "state.npz"), **{"v%d" % i: v.numpy() for i, v in enumerate(network.variables)})

    if job.checkpoint:
        with np.load(os.path.join(job.checkpoint, "state.npz")) as state:
            for i, v in enumerate(network.variables):
                v.assign(state["v%d" % i])

    def accuracy():
        logits = network.logits(tf.constant(held), [tf.constant(v.numpy()) for v in network.weights])
        return float(np.mean(np.argmax(logits.numpy(), axis=1) == held_labels))

    per_epoch = digits.steps_per_epoch(args, len(images))
    final = accuracy()
    for _ in job.train(save, None, every=args.checkpoint_every):
        order = digits.order(args, job.done_epochs, len(images))
        losses = []
        try:
            for n in range(job.steps_left(per_epoch)):
                batch = order[n * args.batch:(n + 1) * args.batch]
                losses.append(coordinator.schedule(step, args=(images[batch], labels[batch])))
            coordinator.join()
            loss = float(np.mean([value.fetch() for value in losses]))
            reached = accuracy()
        except (tf.errors.UnavailableError, tf.errors.AbortedError) as e:
            print("train.py: a parameter server is lost: %s" % str(e).split("\n")[0], file=sys.stderr, flush=True)
            os._exit(1)  # the coordinator's threads would wait for it
        job.epoch(loss=loss, accuracy=reached, steps=len(losses))
        if not job.spent:
            final = reached
    if job.time_left is not None:
        job.final(final)
    job.end(save=(lambda: save(args.save)) if args.save else None)
    sys.stdout.flush()
    os._exit(0)  # otherwise threads of the coordinator would keep the process alive
