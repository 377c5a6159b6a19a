from loguru import logger
import random
random.seed(0)
num_epochs = 4
for epoch in range(num_epochs):
    train_loss, val_loss, val_acc = 1 / (epoch + 1), 1.1 / (epoch + 1), 0.5 + epoch / 10
    logger.info(f"[Epoch {epoch + 1:>2}/{num_epochs}] lr=1e-4 | train_loss={train_loss:.4f} | val_loss={val_loss:.4f} | val_acc={val_acc:.2%}")
logger.success("done")
