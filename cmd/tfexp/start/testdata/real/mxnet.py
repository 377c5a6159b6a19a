import logging, mxnet as mx, numpy as np
logging.getLogger().setLevel(logging.INFO)
X = np.random.RandomState(0).normal(size=(256, 8)).astype("float32"); y = (X[:, 0] > 0).astype("float32")
d = mx.sym.Variable("data"); s = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(d, num_hidden=2), name="softmax")
m = mx.mod.Module(s, context=mx.cpu())
it = mx.io.NDArrayIter(X, y, 32)
m.fit(it, eval_data=mx.io.NDArrayIter(X, y, 32), optimizer_params={"learning_rate": 0.1}, num_epoch=3, batch_end_callback=mx.callback.Speedometer(32, 4))
