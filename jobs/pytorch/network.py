"""The network that jobs/pytorch trains, and how it is deepened while it trains."""

import torch
from torch import nn


class Refused(ValueError):
    """Why a layer cannot be added."""


class Network(nn.Module):
    """Blocks of layers, each followed by an activation, then ten logits.

    Two blocks of 3x3 convolutions (32 and 64 filters, with batch normalisation
    if that is set), pooling, and a block of linear layers of 128 units. layers
    is the number of layers in each of the three blocks.
    """

    BLOCKS = 3

    def __init__(self, layers=(1, 1, 1), batch_norm=False, activation="relu"):
        super().__init__()
        self.batch_norm, self.activation = batch_norm, activation
        self.blocks = nn.ModuleList()
        for i, (inputs, outputs) in enumerate(((1, 32), (32, 64), (64 * 4 * 4, 128))):
            block = nn.Sequential(*self._layer(i, inputs, outputs))
            for _ in range(layers[i] - 1):
                block.extend(self._layer(i, outputs, outputs))
            self.blocks.append(block)
        self.pool = nn.Sequential(nn.MaxPool2d(2), nn.Flatten())
        self.last = nn.Linear(128, 10)

    def _layer(self, i, inputs, outputs):
        if i == 2:
            own = [nn.Linear(inputs, outputs)]
        else:
            own = [nn.Conv2d(inputs, outputs, 3, padding=1)]
            if self.batch_norm:
                own.append(nn.BatchNorm2d(outputs))
        return own + [nn.ReLU() if self.activation == "relu" else nn.Tanh()]

    def forward(self, x):
        x = self.blocks[1](self.blocks[0](x))
        return self.last(self.blocks[2](self.pool(x)))

    def layers(self, i):
        """The number of layers in block i."""
        return sum(isinstance(m, (nn.Conv2d, nn.Linear)) for m in self.blocks[i])

    def nothing(self, i):
        """Whether an action requests nothing: -1, or the number of blocks."""
        return i in (-1, self.BLOCKS)

    def grow(self, i):
        """Add a layer with initial random weights to block i; return its modules."""
        if not 0 <= i < self.BLOCKS:
            raise Refused("there is no block %d: the network has %d, counted from 0" % (i, self.BLOCKS))
        if self.activation != "relu":
            raise Refused("its activation is %s: a layer behind it keeps the function only if that is idempotent, as relu is" % self.activation)
        block = self.blocks[i]
        width = next(m for m in block if isinstance(m, (nn.Conv2d, nn.Linear))).weight.shape[0]
        device = next(self.parameters()).device
        new = [m.to(device) for m in self._layer(i, width, width)]
        block.extend(new)
        return new

    @torch.no_grad()
    def deepen(self, i, images):
        """Add a layer that computes the identity to block i; return its modules.

        Net2DeeperNet (Chen, Goodfellow, Shlens: "Net2Net", 2016). Batch
        normalisation takes mean and variance from the images. With weight
        sqrt(var + eps) and bias mean, its output then equals its input.
        """
        new = self.grow(i)
        layer = new[0]
        layer.weight.zero_()
        layer.bias.zero_()
        if isinstance(layer, nn.Linear):
            layer.weight.copy_(torch.eye(layer.weight.shape[0]))
            return new
        centre = layer.weight.shape[2] // 2
        for c in range(layer.weight.shape[0]):
            layer.weight[c, c, centre, centre] = 1
        if self.batch_norm:
            norm = new[1]
            training = self.training
            self.eval()
            x = images
            for block in list(self.blocks)[:i]:
                x = block(x)
            for module in list(self.blocks[i])[:-3]:  # without the new layer
                x = module(x)
            self.train(training)
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
            norm.running_mean.copy_(mean)
            norm.running_var.copy_(var)
            norm.weight.copy_((var + norm.eps).sqrt())
            norm.bias.copy_(mean)
        return new
