from sklearn.datasets import make_classification
from sklearn.neural_network import MLPClassifier
X, y = make_classification(200, 8, random_state=0)
clf = MLPClassifier((16,), max_iter=50, verbose=1, random_state=0, early_stopping=True, n_iter_no_change=3, tol=1e-2)
clf.fit(X, y)
