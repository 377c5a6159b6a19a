import tensorflow as tf
n_epochs, steps = 3, 5
for epoch in range(n_epochs):
    print("\nepoch {}/{}".format(epoch + 1, n_epochs))
    bar = tf.keras.utils.Progbar(steps, stateful_metrics=["acc"])
    for i in range(steps):
        bar.update(i + 1, values=[("train_loss", 1 / (epoch + i + 1)), ("acc", .1 * i)])
