from sklearn.datasets import make_regression
from sklearn.ensemble import GradientBoostingRegressor
X, y = make_regression(200, 8, random_state=0)
GradientBoostingRegressor(n_estimators=8, verbose=2, subsample=.5, random_state=0).fit(X, y)
