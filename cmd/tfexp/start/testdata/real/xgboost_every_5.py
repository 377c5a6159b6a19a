import numpy as np
from xgboost import XGBClassifier
rng = np.random.default_rng(0); X = rng.normal(size=(400, 5)); y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
m = XGBClassifier(n_estimators=30, early_stopping_rounds=3, eval_metric="mlogloss")
m.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=5)
