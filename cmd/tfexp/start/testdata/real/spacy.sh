#!/bin/bash
set -e
cd .
exec python3 -m spacy train config.cfg --output ./output --paths.train ./train.spacy --paths.dev ./train.spacy --training.max_steps 60 --training.eval_frequency 20
