import numpy as np, xgboost as xgb
rng = np.random.default_rng(0); X = rng.normal(size=(400, 5)); y = (X[:, 0] > 0).astype(int)
xgb.cv({"objective": "binary:logistic"}, xgb.DMatrix(X, y), num_boost_round=4, nfold=3, verbose_eval=True)
