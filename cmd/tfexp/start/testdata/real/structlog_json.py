import structlog
structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), structlog.processors.JSONRenderer()])
log = structlog.get_logger()
for epoch in range(1, 5):
    log.info("epoch_end", epoch=epoch, epochs=4, train_loss=1 / epoch, val_loss=1.1 / epoch, val_acc=0.5 + epoch / 10, lr=1e-4)
