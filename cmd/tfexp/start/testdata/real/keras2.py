import numpy as np
import tf_keras as keras
from tf_keras import layers
rng = np.random.default_rng(0); X = rng.normal(size=(256, 8)).astype("float32"); y = (X[:, 0] > 0).astype(int)
m = keras.Sequential([layers.Input((8,)), layers.Dense(8, activation="relu"), layers.Dense(2, activation="softmax")])
m.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
m.fit(X, y, epochs=4, batch_size=32, validation_split=0.25)
print(m.evaluate(X, y))
