import numpy as np, lightgbm as lgb
rng = np.random.default_rng(0); X = rng.normal(size=(400, 5)); y = (X[:, 0] > 0).astype(int)
d = lgb.Dataset(X[:300], y[:300]); v = lgb.Dataset(X[300:], y[300:], reference=d)
lgb.train({"objective": "binary", "metric": ["auc", "binary_logloss"]}, d, num_boost_round=6, valid_sets=[d, v], valid_names=["train", "valid"], callbacks=[lgb.log_evaluation(1)])
