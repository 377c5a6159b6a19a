import os, numpy as np, cv2
from ultralytics import YOLO
d = "/tmp/yd"; rng = np.random.default_rng(0)
for s in ("train", "val"):
    os.makedirs(f"{d}/images/{s}", exist_ok=True); os.makedirs(f"{d}/labels/{s}", exist_ok=True)
    for i in range(4):
        im = np.zeros((64, 64, 3), np.uint8); im[16:48, 16:48] = 255; cv2.imwrite(f"{d}/images/{s}/{i}.jpg", im); open(f"{d}/labels/{s}/{i}.txt", "w").write("0 0.5 0.5 0.5 0.5\n")
open(f"{d}/d.yaml", "w").write(f"path: {d}\ntrain: images/train\nval: images/val\nnames: ['a']\n")
YOLO("yolov8n.yaml").train(data=f"{d}/d.yaml", epochs=3, imgsz=64, batch=2, workers=0, device="cpu", plots=False, project="/tmp/yr", amp=False)
