import torch, lightning as L
from torch import nn
class M(L.LightningModule):
    def __init__(self): super().__init__(); self.l = nn.Linear(8, 2)
    def training_step(self, b, i):
        loss = nn.functional.cross_entropy(self.l(b[0]), b[1]); self.log("train_loss", loss, prog_bar=True); return loss
    def validation_step(self, b, i):
        o = self.l(b[0]); self.log("val_loss", nn.functional.cross_entropy(o, b[1]), prog_bar=True); self.log("val_acc", (o.argmax(1) == b[1]).float().mean(), prog_bar=True)
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), .1)
torch.manual_seed(0); X = torch.randn(320, 8); Y = (X[:, 0] > 0).long()
dl = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), 32)
L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False).fit(M(), dl, dl)
