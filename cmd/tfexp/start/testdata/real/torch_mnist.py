from __future__ import print_function
import argparse, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader
def train(args, model, loader, opt, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        opt.zero_grad(); loss = F.nll_loss(model(data), target); loss.backward(); opt.step()
        if batch_idx % args.log_interval == 0:
            print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                epoch, batch_idx * len(data), len(loader.dataset),
                100. * batch_idx / len(loader), loss.item()))
def test(model, loader):
    model.eval(); test_loss = correct = 0
    with torch.no_grad():
        for data, target in loader:
            o = model(data); test_loss += F.nll_loss(o, target, reduction='sum').item(); correct += o.argmax(1).eq(target).sum().item()
    test_loss /= len(loader.dataset)
    print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n'.format(
        test_loss, correct, len(loader.dataset), 100. * correct / len(loader.dataset)))
def main():
    parser = argparse.ArgumentParser(description='PyTorch MNIST Example')
    parser.add_argument('--batch-size', type=int, default=64, metavar='N', help='input batch size for training (default: 64)')
    parser.add_argument('--epochs', type=int, default=3, metavar='N', help='number of epochs to train (default: 14)')
    parser.add_argument('--lr', type=float, default=1.0, metavar='LR', help='learning rate (default: 1.0)')
    parser.add_argument('--log-interval', type=int, default=3, metavar='N')
    args = parser.parse_args()
    torch.manual_seed(0); X = torch.randn(640, 8); y = (X[:, 0] > 0).long()
    dl = DataLoader(TensorDataset(X, y), args.batch_size)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2), nn.LogSoftmax(1)); opt = torch.optim.Adadelta(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        train(args, model, dl, opt, epoch); test(model, dl)
main()
