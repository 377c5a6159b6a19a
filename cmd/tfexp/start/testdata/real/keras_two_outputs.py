import numpy as np, keras
from keras import layers
X = np.random.default_rng(0).normal(size=(128, 8)).astype("float32")
i = keras.Input((8,)); h = layers.Dense(8)(i)
m = keras.Model(i, {"a": layers.Dense(1, name="a")(h), "b": layers.Dense(2, activation="softmax", name="b")(h)})
m.compile("adam", {"a": "mse", "b": "sparse_categorical_crossentropy"}, metrics={"b": "accuracy"})
m.fit(X, {"a": X[:, 0], "b": (X[:, 1] > 0).astype(int)}, epochs=3, validation_split=.2)
