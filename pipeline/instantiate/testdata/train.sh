#!/bin/sh
echo "epoch 1 of 1"
