import torch
from torch import nn
from transformers import Trainer, TrainingArguments
class M(nn.Module):
    def __init__(self): super().__init__(); self.l = nn.Linear(8, 2)
    def forward(self, x=None, labels=None):
        o = self.l(x); return {"loss": nn.functional.cross_entropy(o, labels), "logits": o}
torch.manual_seed(0); X = torch.randn(320, 8); data = [{"x": x, "labels": (x[0] > 0).long()} for x in X]
def acc(p): return {"accuracy": float((p.predictions.argmax(1) == p.label_ids).mean())}
a = TrainingArguments("/tmp/hft", max_steps=30, gradient_accumulation_steps=2, logging_steps=5, eval_strategy="epoch", save_strategy="no", report_to=[], disable_tqdm=True, per_device_train_batch_size=16, use_cpu=True, learning_rate=1e-2)
Trainer(M(), a, train_dataset=data, eval_dataset=data, compute_metrics=acc).train()
