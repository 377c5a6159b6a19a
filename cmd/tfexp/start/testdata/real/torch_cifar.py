import torch, torch.nn as nn
torch.manual_seed(0); X = torch.randn(8000, 8); Y = (X[:, 0] > 0).long(); net = nn.Linear(8, 2); opt = torch.optim.SGD(net.parameters(), lr=0.01)
trainloader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), 4)
for epoch in range(2):  # loop over the dataset multiple times
    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        inputs, labels = data
        opt.zero_grad(); loss = nn.functional.cross_entropy(net(inputs), labels); loss.backward(); opt.step()
        running_loss += loss.item()
        if i % 500 == 499:
            print(f'[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 500:.3f}')
            running_loss = 0.0
print('Finished Training')
