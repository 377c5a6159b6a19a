import jax, jax.numpy as jnp, optax
from absl import logging, app
from flax import linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x): return nn.Dense(2)(nn.relu(nn.Dense(8)(x)))
def main(_):
    logging.set_verbosity(logging.INFO)
    X = jax.random.normal(jax.random.PRNGKey(0), (256, 8)); y = (X[:, 0] > 0).astype(int)
    net = Net(); p = net.init(jax.random.PRNGKey(1), X); tx = optax.adam(0.1); s = tx.init(p)
    num_epochs = 4
    def lf(p):
        l = net.apply(p, X); return optax.softmax_cross_entropy_with_integer_labels(l, y).mean(), (l.argmax(1) == y).mean()
    for epoch in range(1, num_epochs + 1):
        (loss, acc), g = jax.value_and_grad(lf, has_aux=True)(p)
        u, s = tx.update(g, s); p = optax.apply_updates(p, u)
        logging.info("epoch:% 3d, train_loss: %.4f, train_accuracy: %.2f, test_loss: %.4f, test_accuracy: %.2f", epoch, loss, acc * 100, loss, acc * 100)
app.run(main)
