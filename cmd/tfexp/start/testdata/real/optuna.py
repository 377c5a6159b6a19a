import optuna
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
X, y = make_classification(400, 8, random_state=0)
def objective(trial):
    clf = SGDClassifier(alpha=trial.suggest_float("alpha", 1e-5, 1e-1, log=True), random_state=0)
    for step in range(5):
        clf.partial_fit(X[:300], y[:300], classes=[0, 1])
        trial.report(clf.score(X[300:], y[300:]), step)
    return clf.score(X[300:], y[300:])
study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=6)
print("best", study.best_value)
