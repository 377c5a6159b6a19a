from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
X, y = make_classification(200, 8, random_state=0)
RandomForestClassifier(n_estimators=10, verbose=2, random_state=0).fit(X, y)
