import argparse, time, torch, torch.nn as nn
from enum import Enum
parser = argparse.ArgumentParser()
parser.add_argument('--epochs', default=3, type=int)
parser.add_argument('--start-epoch', default=0, type=int)
parser.add_argument('-p', '--print-freq', default=2, type=int)
parser.add_argument('-b', '--batch-size', default=64, type=int)
parser.add_argument('--lr', '--learning-rate', default=0.1, type=float, dest='lr')
class Summary(Enum):
    NONE = 0; AVERAGE = 1
class AverageMeter(object):
    def __init__(self, name, fmt=':f', summary_type=Summary.AVERAGE):
        self.name, self.fmt, self.summary_type = name, fmt, summary_type; self.val = self.avg = self.sum = self.count = 0
    def update(self, val, n=1):
        self.val = val; self.sum += val * n; self.count += n; self.avg = self.sum / self.count
    def __str__(self):
        return ('{name} {val' + self.fmt + '} ({avg' + self.fmt + '})').format(**self.__dict__)
    def summary(self):
        return '{name} {avg:.3f}'.format(**self.__dict__) if self.summary_type == Summary.AVERAGE else ''
class ProgressMeter(object):
    def __init__(self, num_batches, meters, prefix=""):
        num_digits = len(str(num_batches // 1)); fmt = '{:' + str(num_digits) + 'd}'
        self.batch_fmtstr = '[' + fmt + '/' + fmt.format(num_batches) + ']'; self.meters, self.prefix = meters, prefix
    def display(self, batch):
        entries = [self.prefix + self.batch_fmtstr.format(batch)]; entries += [str(m) for m in self.meters]; print('\t'.join(entries))
    def display_summary(self):
        print(' '.join([" *"] + [m.summary() for m in self.meters]))
args = parser.parse_args()
torch.manual_seed(0); X = torch.randn(640, 8); y = (X[:, 0] > 0).long()
model = nn.Linear(8, 2); opt = torch.optim.SGD(model.parameters(), args.lr)
def run(epoch, train):
    n = len(X) // args.batch_size
    bt, losses, top1 = AverageMeter('Time', ':6.3f', Summary.NONE), AverageMeter('Loss', ':.4e', Summary.NONE), AverageMeter('Acc@1', ':6.2f')
    progress = ProgressMeter(n, [bt, losses, top1], prefix="Epoch: [{}]".format(epoch) if train else 'Test: ')
    for i in range(n):
        t = time.time(); s = slice(i * 64, i * 64 + 64); o = model(X[s]); loss = nn.functional.cross_entropy(o, y[s])
        losses.update(loss.item(), 64); top1.update(100 * (o.argmax(1) == y[s]).float().mean().item(), 64)
        if train: opt.zero_grad(); loss.backward(); opt.step()
        bt.update(time.time() - t)
        if i % args.print_freq == 0: progress.display(i + 1)
    if not train: progress.display_summary()
for epoch in range(args.start_epoch, args.epochs):
    run(epoch, True); run(epoch, False)
