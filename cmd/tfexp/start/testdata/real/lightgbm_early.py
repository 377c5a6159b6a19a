import numpy as np, lightgbm
from lightgbm import LGBMRegressor
rng = np.random.default_rng(0); X = rng.normal(size=(400, 5)); y = X[:, 0]
m = LGBMRegressor(n_estimators=40)
m.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], callbacks=[lightgbm.early_stopping(3), lightgbm.log_evaluation(period=10)])
