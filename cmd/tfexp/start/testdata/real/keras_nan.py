import numpy as np, keras
from keras import layers
X = np.random.default_rng(0).normal(size=(128, 8)).astype("float32") * 1e20
m = keras.Sequential([layers.Input((8,)), layers.Dense(1)])
m.compile(keras.optimizers.SGD(1e9), "mse")
m.fit(X, X[:, 0], epochs=3, verbose="auto", callbacks=[keras.callbacks.TerminateOnNaN()])
