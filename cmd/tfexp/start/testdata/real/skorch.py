import torch
from torch import nn
from skorch import NeuralNetClassifier
torch.manual_seed(0); X = torch.randn(320, 8).numpy(); y = (X[:, 0] > 0).astype("int64")
NeuralNetClassifier(nn.Sequential(nn.Linear(8, 2), nn.Softmax(-1)), max_epochs=4, lr=0.1).fit(X, y)
