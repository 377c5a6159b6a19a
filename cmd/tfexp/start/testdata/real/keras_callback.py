import numpy as np, keras
from keras import layers
class Log(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Epoch {epoch + 1:03d}: loss {logs['loss']:.4f}, val_loss {logs['val_loss']:.4f}, val_accuracy {logs['val_accuracy']:.3f}")
X = np.random.default_rng(0).normal(size=(128, 8)).astype("float32"); y = (X[:, 0] > 0).astype(int)
m = keras.Sequential([layers.Input((8,)), layers.Dense(2, activation="softmax")])
m.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
m.fit(X, y, epochs=3, verbose=0, validation_split=.2, callbacks=[Log()])
