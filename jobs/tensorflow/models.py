"""Small versions of well-known networks, for images of digits."""

import keras
from keras import layers

#: The factor by which the 8x8 images are enlarged for each model.
SCALE = {"mlp": 1, "cnn": 1, "lenet": 4, "googlenet": 2}


def build(name):
    """Return the network of this name. Its output is the logits of ten classes."""
    side = 8 * SCALE[name]
    image = keras.Input((side, side, 1))
    body = {"mlp": mlp, "cnn": cnn, "lenet": lenet, "googlenet": googlenet}[name]
    return keras.Model(image, layers.Dense(10)(body(image)))


def mlp(x):
    """A multilayer perceptron with two hidden layers."""
    x = layers.Flatten()(x)
    for units in (512, 256):
        x = layers.Dense(units, activation="relu")(x)
    return x


def cnn(x):
    """Two 3x3 convolutions, pooling, and a hidden layer."""
    for filters in (32, 64):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(layers.MaxPooling2D(2)(x))
    return layers.Dense(128, activation="relu")(x)


def lenet(x):
    """LeNet-5 (LeCun et al., 1998): images of 32x32, average pooling, tanh."""
    for filters in (6, 16):
        x = layers.AveragePooling2D(2)(layers.Conv2D(filters, 5, activation="tanh")(x))
    x = layers.Flatten()(x)
    for units in (120, 84):
        x = layers.Dense(units, activation="tanh")(x)
    return x


def conv(x, filters, size):
    return layers.Conv2D(filters, size, padding="same", activation="relu", kernel_initializer="he_normal")(x)


def inception(x, one, three, five, pool):
    """The inception module of GoogLeNet (Szegedy et al., 2015): four parallel branches,
    each after a narrow 1x1 convolution. Inter-op threads compute them in parallel."""
    return layers.Concatenate()([
        conv(x, one, 1),
        conv(conv(x, three // 2, 1), three, 3),
        conv(conv(x, five // 2, 1), five, 5),
        conv(layers.MaxPooling2D(3, strides=1, padding="same")(x), pool, 1),
    ])


def googlenet(x):
    """A stem and three inception modules, then the mean over the image."""
    x = conv(x, 16, 3)
    x = inception(x, 8, 16, 4, 4)
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    x = inception(x, 16, 32, 8, 8)
    x = inception(x, 32, 48, 16, 16)
    return layers.GlobalAveragePooling2D()(x)
