from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
X, y = make_classification(200, 8, random_state=0)
SGDClassifier(max_iter=5, tol=None, verbose=1, random_state=0).fit(X, y)
