import paddle, numpy as np
from paddle.io import TensorDataset
paddle.seed(0); X = paddle.randn([256, 8]); y = (X[:, 0:1] > 0).astype("int64")
net = paddle.nn.Sequential(paddle.nn.Linear(8, 2)); model = paddle.Model(net)
model.prepare(paddle.optimizer.Adam(parameters=net.parameters()), paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
model.fit(TensorDataset([X, y]), TensorDataset([X, y]), epochs=3, batch_size=32, verbose=2, log_freq=2)
