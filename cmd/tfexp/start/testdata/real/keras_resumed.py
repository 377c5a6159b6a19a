import tensorflow as tf
import numpy as np
from tensorflow.keras import layers
tf.keras.utils.set_random_seed(0)
X = np.random.normal(size=(256, 8)).astype("float32"); y = X[:, :1]
m = tf.keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(1)])
m.compile("adam", "mse", metrics=["mae"])
m.fit(X, y, epochs=15, initial_epoch=11, batch_size=32, verbose=2, validation_data=(X, y), callbacks=[tf.keras.callbacks.EarlyStopping(patience=1, min_delta=10), tf.keras.callbacks.ReduceLROnPlateau(patience=1, verbose=1)])
