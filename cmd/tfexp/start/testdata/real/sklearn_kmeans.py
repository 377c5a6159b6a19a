from sklearn.datasets import make_blobs
from sklearn.cluster import KMeans
X, y = make_blobs(200, random_state=0)
KMeans(3, n_init=2, verbose=1, random_state=0).fit(X)
