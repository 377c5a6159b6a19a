import numpy as np
from catboost import CatBoostClassifier, Pool
rng = np.random.default_rng(0); X = rng.normal(size=(400, 5)); y = (X[:, 0] > 0).astype(int)
m = CatBoostClassifier(iterations=12, verbose=5, allow_writing_files=False, thread_count=1)
m.fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
