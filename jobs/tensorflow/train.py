#!/usr/bin/env python3
"""Train a network on handwritten digits with TensorFlow, as a job of tfexp.

The thread pools have the sizes of the job's allotment. TensorFlow fixes them when
it starts. With --variant malleable, the program adopts another allotment at the
end of an epoch, by a checkpoint and a restart. With --variant original it keeps
its pools; only the cores that it may use change. In a job with roles it trains
together with other parts (cluster.py).
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Modules in sibling folders come before installed ones.
sys.path[1:1] = [HERE, os.path.join(HERE, "..", "digits"), os.path.join(HERE, "..", "tfexp_job")]

import digits  # noqa: E402
import tfexp_job  # noqa: E402


def main():
    parser = digits.parser(__doc__.split("\n")[0], ["mlp", "cnn", "lenet", "googlenet"])
    parser.add_argument("--inter-threads", type=int, default=0, metavar="N", help="sizes of the thread pools, instead of the job's")
    parser.add_argument("--intra-threads", type=int, default=0, metavar="N", help="(to measure them; the allotment is then not followed)")
    args = digits.arguments(parser)
    if args.inter_threads or args.intra_threads:
        os.environ.update(TFEXP_INTER_THREADS=str(args.inter_threads or 1), TFEXP_INTRA_THREADS=str(args.intra_threads or 1))
        os.environ.pop("TFEXP_CONTROL", None)
    job = tfexp_job.start(epochs=args.epochs, settings=digits.settings(args))

    import cluster
    if job.role:
        cluster.environment(job)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    try:
        import numpy as np
        import keras
        import tensorflow as tf
    except ImportError as e:
        sys.exit("train.py: %s: run `make python-jobs`, and start the program by run.sh or .venv/bin/python" % e)

    import models

    if job.role in ("ps", "worker"):
        cluster.serve(job, tf)

    inter, intra = job.allotment()
    tf.config.threading.set_inter_op_parallelism_threads(inter)
    tf.config.threading.set_intra_op_parallelism_threads(intra)
    if job.role:
        cluster.lead(job, args, tf, np, digits)
    keras.utils.set_random_seed(args.seed)
    tf.config.experimental.enable_op_determinism()
    print("tensorflow %s: inter-op threads %d, intra-op threads %d, GPUs %d" % (
        tf.__version__, tf.config.threading.get_inter_op_parallelism_threads(),
        tf.config.threading.get_intra_op_parallelism_threads(), len(tf.config.list_physical_devices("GPU"))), flush=True)

    (images, labels), held = digits.load(models.SCALE[args.model])
    model = models.build(args.model)
    optimizer = keras.optimizers.Adam(args.learning_rate)
    optimizer.build(model.trainable_variables)
    variables = model.variables + optimizer.variables
    # An interrupted epoch continues at its next step.
    epoch = {"step": 0, "loss": 0.0}
    per_epoch = digits.steps_per_epoch(args, len(images))

    def save(folder):
        np.savez(os.path.join(folder, "state.npz"), step=epoch["step"], loss=epoch["loss"],
                 **{"v%d" % i: v.numpy() for i, v in enumerate(variables)})

    if job.checkpoint:
        with np.load(os.path.join(job.checkpoint, "state.npz")) as state:
            epoch = {"step": int(state["step"]), "loss": float(state["loss"])}
            for i, v in enumerate(variables):
                v.assign(state["v%d" % i])

    batch_of = [tf.TensorSpec([None, *images.shape[1:]], tf.float32), tf.TensorSpec([None], tf.int32)]

    @tf.function(input_signature=batch_of)
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    @tf.function(input_signature=batch_of)
    def hits(x, y):
        return tf.reduce_mean(tf.cast(tf.equal(tf.argmax(model(x), axis=1, output_type=tf.int32), y), tf.float32))

    # The time to build the graphs counts as start-up.
    train.get_concrete_function()
    hits.get_concrete_function()
    finished = [v.numpy() for v in variables]  # after the last whole epoch
    for done in job.train(save, tfexp_job.RESTART if args.variant == "malleable" else None, every=args.checkpoint_every):
        number = done if job.steps is None else done // per_epoch
        order = digits.order(args, number, len(images))
        steps = job.steps_left(per_epoch)
        while epoch["step"] < steps and job.between_steps(epoch["step"]):
            at = epoch["step"] * args.batch
            batch = order[at:at + args.batch]
            epoch["loss"] += float(train(images[batch], labels[batch]))
            epoch["step"] += 1
        if job.spent:
            break
        loss = epoch["loss"] / steps
        epoch.update(step=0, loss=0.0)
        job.epoch(loss=loss, accuracy=float(hits(*held)), steps=steps, lr=float(optimizer.learning_rate))
        if not job.spent and (job.time_left is not None or job.controlled):
            finished = [v.numpy() for v in variables]
    if job.time_left is not None:
        for v, value in zip(variables, finished):
            v.assign(value)
        job.final(float(hits(*held)))
    job.end(save=(lambda: model.save(args.save)) if args.save else None)


if __name__ == "__main__":
    main()
