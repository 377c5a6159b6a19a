from fastai.tabular.all import *
import pandas as pd, numpy as np
rng = np.random.default_rng(0); df = pd.DataFrame(rng.normal(size=(320, 4)), columns=list("abcd")); df["y"] = (df.a > 0).map({True: "p", False: "n"})
dls = TabularDataLoaders.from_df(df, y_names="y", cont_names=list("abcd"), procs=[Normalize], bs=32, num_workers=0)
tabular_learner(dls, layers=[8], metrics=accuracy).fit_one_cycle(3)
