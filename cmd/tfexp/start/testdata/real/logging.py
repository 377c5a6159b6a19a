import logging
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("train")
EPOCHS = 4
for epoch in range(1, EPOCHS + 1):
    for step in range(0, 30, 10):
        log.info("epoch %d step %d/%d lr 1e-4 loss %.3f", epoch, step, 30, 1 / (epoch + step))
    log.info("epoch %d done in 1.2s | train loss %.3f | val loss %.3f | val acc %.1f%%", epoch, 1 / epoch, 1.1 / epoch, 50 + epoch)
