import logging
logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(levelname)s [%(name)s.%(funcName)s:%(lineno)d] %(message)s")
log = logging.getLogger(__name__)
def train(epochs=5):
    for ep in range(epochs):
        log.info("Epoch: %d, Train Loss: %.4f, Val Loss: %.4f, Val Acc: %.4f, ETA: 0:00:%02d, lr: 1.00e-04", ep, 1/(ep+1), 1.2/(ep+1), .5+ep/10, epochs-ep)
train()
