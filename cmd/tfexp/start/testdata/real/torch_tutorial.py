import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0); X = torch.randn(6400, 8); Y = (X[:, 0] > 0).long()
train_dataloader = DataLoader(TensorDataset(X, Y), 64); test_dataloader = DataLoader(TensorDataset(X[:640], Y[:640]), 64)
model = nn.Linear(8, 2); loss_fn = nn.CrossEntropyLoss(); optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
def train(dataloader, model, loss_fn, optimizer):
    size = len(dataloader.dataset)
    for batch, (X, y) in enumerate(dataloader):
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 25 == 0:
            loss, current = loss.item(), (batch + 1) * len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]")
def test(dataloader, model, loss_fn):
    size = len(dataloader.dataset); num_batches = len(dataloader); test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X); test_loss += loss_fn(pred, y).item(); correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    test_loss /= num_batches
    correct /= size
    print(f"Test Error: \n Accuracy: {(100*correct):>0.1f}%, Avg loss: {test_loss:>8f} \n")
epochs = 3
for t in range(epochs):
    print(f"Epoch {t+1}\n-------------------------------")
    train(train_dataloader, model, loss_fn, optimizer)
    test(test_dataloader, model, loss_fn)
print("Done!")
