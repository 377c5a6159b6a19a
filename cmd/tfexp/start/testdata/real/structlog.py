import structlog
log = structlog.get_logger()
for epoch in range(1, 5):
    log.info("epoch finished", epoch=epoch, train_loss=1 / epoch, val_loss=1.1 / epoch, val_accuracy=0.5 + epoch / 10, lr=1e-4)
