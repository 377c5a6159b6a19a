import numpy as np, xgboost as xgb
rng = np.random.default_rng(0); X = rng.normal(size=(400, 5)); y = (X[:, 0] > 0).astype(int)
d, v = xgb.DMatrix(X[:300], y[:300]), xgb.DMatrix(X[300:], y[300:])
xgb.train({"objective": "binary:logistic", "eval_metric": ["auc", "error", "logloss"]}, d, num_boost_round=6, evals=[(d, "train"), (v, "val")])
