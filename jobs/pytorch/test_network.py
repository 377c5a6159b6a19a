"""Tests of network.py and of train.py's requests: /usr/bin/python3 -m unittest discover -s jobs/pytorch"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "digits")]

import torch  # noqa: E402
from torch import nn  # noqa: E402

import digits  # noqa: E402
from network import Network, Refused  # noqa: E402


def load():
    images, labels = digits.load()[0]
    return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(labels).long()


class Deepening(unittest.TestCase):
    def test_keeps_the_function(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        images, labels = load()
        for batch_norm in (False, True):
            for block in range(3):
                with self.subTest(batch_norm=batch_norm, block=block):
                    model = Network(batch_norm=batch_norm)
                    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

                    def step(at):
                        optimizer.zero_grad()
                        loss = nn.functional.cross_entropy(model(images[at:at + 64]), labels[at:at + 64])
                        loss.backward()
                        optimizer.step()
                        return float(loss)

                    before_loss = [step(64 * i) for i in range(20)][-1]
                    for _ in range(2):  # also a block that has been deepened before
                        model.eval()
                        with torch.no_grad():
                            before = model(images)
                        new = model.deepen(block, images)
                        with torch.no_grad():
                            after = model(images)
                        self.assertLess(float((before - after).abs().max()), 1e-5)
                        old = len(optimizer.state)
                        optimizer.add_param_group({"params": [p for m in new for p in m.parameters()]})
                        self.assertEqual(len(optimizer.state), old)  # of the old ones, and no others
                        model.train()
                        after_loss = step(0)
                        self.assertLess(after_loss, before_loss + 0.6)  # goes on from where it was
                    self.assertEqual(model.layers(block), 3)

    def test_refuses(self):
        images, _ = load()
        for model, block, reason in ((Network(), 4, "no block 4"), (Network(), -2, "no block -2"), (Network(activation="tanh"), 0, "idempotent")):
            with self.assertRaisesRegex(Refused, reason):
                model.deepen(block, images)
        self.assertTrue(Network().nothing(3) and Network().nothing(-1) and not Network().nothing(2))


class Program(unittest.TestCase):
    def run_program(self, folder, control, **env):
        with open(os.path.join(folder, "control"), "w") as f:
            json.dump(control, f)
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TFEXP_")}
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, "train.py"), "--model", "cnn_bn", "--restart-rate", "0.0005"],
            env={**clean, "TFEXP_CONTROL": os.path.join(folder, "control"), "TFEXP_CHECKPOINT_DIR": os.path.join(folder, "ck"), **env},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line)["tfexp"] for line in done.stdout.splitlines() if line.startswith('{"tfexp"')]

    def test_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = self.run_program(folder, {
                "intra": 1, "serial": 1, "deepen": 1, "checkpoint": True, "settings": {"batch": 32, "model": "cnn"}}, TFEXP_EPOCHS="3")
        deepened = [p["deepened"] for p in lines if "deepened" in p]
        self.assertEqual([(d["block"], d["layers"], d["accuracy_before"]) for d in deepened], [(1, 2, deepened[0]["accuracy_after"])])
        self.assertEqual([p["refused"] for p in lines if "refused" in p], ["model"])
        self.assertEqual([p["changed"]["settings"] for p in lines if "changed" in p], [{"batch": 32}])
        self.assertEqual(sum("checkpoint" in p for p in lines), 1)
        epochs = [p for p in lines if "epoch" in p]
        self.assertEqual([p["step"] for p in epochs], [45, 90, 135])
        self.assertGreater(epochs[-1]["accuracy"], 0.9)

    def test_budget(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = self.run_program(folder, {"intra": 1}, TFEXP_EPOCHS="1000", TFEXP_BUDGET="15")
            self.assertEqual(os.listdir(os.path.join(folder, "ck")) if os.path.isdir(os.path.join(folder, "ck")) else [], [])
        epochs = [p for p in lines if "epoch" in p]
        self.assertEqual(lines[-1]["final_accuracy"], epochs[-1]["accuracy"] if epochs else lines[-1]["final_accuracy"])


if __name__ == "__main__":
    unittest.main()
