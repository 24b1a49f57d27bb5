"""Adaptation beside its peers and beside plain loops, on the same features in one run: accuracy, CPU seconds, memory.

    python benchmarks/adapt.py                                    # amazon → webcam, one seed, all methods
    python benchmarks/adapt.py --methods mcc,dann --tasks A-W,C-W --seeds 2
    python benchmarks/adapt.py --libraries graticule,loop         # what the trainer adds to a loop

Each case runs in a process of its own, on one thread, for 1,000 steps of 32 + 32 images; what is timed is the training
(process time). The libraries:

graticule    `graticule.adaptation.adapt.adapt_features`, with checkpoints, losses and a progress bar; reading,
             scaling and the metrics are outside its clock, as they are outside the others'.
loop         a loop written by hand here: indices instead of a loader, the fused optimiser, no checks, no checkpoints.
pytorch-adapt, skada    as a user would call them, with a DataLoader, and with the layers that graticule uses. They are
             not dependencies: install them (pip install pytorch-adapt skada skorch), or they are left out.

The features (MobileNetV2's of Office-Caltech-10) lie in the folder of real data, which the environment variable
GRATICULE_SHARED names. The last iterate is scored; nothing is chosen by target labels.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

SHARED = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[1] / ".." / "shared")).resolve()
DOMAINS = {"A": "amazon", "C": "caltech10", "D": "dslr", "W": "webcam"}
METHODS = ["source_only", "dann", "cdan", "mcc", "safn", "mdd", "mcd", "toalign", "memsac"]
BATCH = 32


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--tasks", default="A-W")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        library, method, task, seed = options.case.split(",")
        print(json.dumps(run_case(library, method, task, int(seed), options.steps)))
        return
    print(f"{'method':12} {'library':14} {'task':5} accuracies %           CPU s/1,000 steps   peak MiB")
    for method in options.methods.split(","):
        for task in options.tasks.split(","):
            for library in options.libraries.split(","):
                found = [start(library, method, task, seed, options.steps) for seed in range(options.seeds)]
                if found[0] is None:
                    continue
                shown = " ".join(f"{100 * one['accuracy']:5.1f}" for one in found)
                seconds = min(one["cpu_s"] for one in found) * 1000 / options.steps
                memory = max(one["peak_mib"] for one in found)
                print(f"{method:12} {library:14} {task:5} {shown:22} {seconds:8.1f} {memory:18.0f}", flush=True)


def start(library, method, task, seed, steps):
    """Run a case in a process of its own; None where the library has no such method or is not installed."""
    words = [
        sys.executable,
        "-W",
        "ignore",
        __file__,
        "--case",
        f"{library},{method},{task},{seed}",
        "--steps",
        str(steps),
    ]
    run = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if run.returncode:
        print(f"{method} {library}: {run.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(run.stdout.strip().splitlines()[-1])


def run_case(library, method, task, seed, steps):
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)  # imports what any optimiser needs, off the clock
    source, target = (load(DOMAINS[letter]) for letter in task.split("-"))
    predicted, cpu_s = LIBRARIES[library](method, source, target, seed, steps)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"accuracy": float((predicted == target[1]).mean()), "cpu_s": cpu_s, "peak_mib": peak}


def load(domain):
    with np.load(SHARED / "data/da/office_caltech10_mobilenetv2" / f"{domain}.npz") as file:
        return file["X"].astype(np.float32), file["y"]


def run_graticule(method, source, target, seed, steps):
    import polars as pl

    from graticule.adaptation import work
    from graticule.adaptation.adapt import adapt_features
    from graticule.adaptation.adapt_config import AdaptConfig
    from graticule.adaptation.problem import Queries
    from graticule.adaptation.trainer_config import TrainerConfig

    ids = [f"s{i:05d}" for i in range(len(source[1]))] + [f"t{i:05d}" for i in range(len(target[1]))]
    labels = [f"{label:02d}" for label in (*source[1], *target[1])]
    regions = ["source"] * len(source[1]) + ["target"] * len(target[1])
    images = pl.DataFrame({"image_id": ids, "label": labels, "region": regions})
    features = pl.DataFrame({"image_id": ids, "features": pl.Series(np.concatenate([source[0], target[0]]))})
    clock = {}
    train = work.train

    def timed(*given, **named):
        started = time.process_time()
        found = train(*given, **named)
        clock["s"] = time.process_time() - started
        return found

    work.train = timed
    with tempfile.TemporaryDirectory() as folder:
        result = adapt_features(
            features,
            images,
            queries=Queries(source='region == "source"', target='region == "target"'),
            config=AdaptConfig(algorithm=method, trainer=TrainerConfig(n_steps=steps)),
            seed=seed,
            checkpoints=Path(folder),
            shown=True,
        )
    return result.predictions["scores"].to_numpy().argmax(axis=1), clock["s"]


def make_layers(method, n_features, n_labels):
    """Return bottleneck, head and discriminator as graticule has them."""
    from graticule.adaptation.modules.layers import make_bottleneck, make_discriminator, make_head

    width = {"safn": 1000, "mdd": 1024}.get(method, 256)
    bottleneck = make_bottleneck(n_features, width, dropout=0.5 if method in ("safn", "mdd") else 0.0)
    n_seen = width * n_labels if method == "cdan" else width
    return bottleneck, make_head(width, n_labels), make_discriminator(n_seen, width=1024, dropout=0.0)


def run_loop(method, source, target, seed, steps):
    """A loop by hand, with the layers that `method` needs."""
    import torch
    from torch.nn import functional

    torch.manual_seed(seed)
    inputs, labels, others = torch.from_numpy(source[0]), torch.from_numpy(source[1]), torch.from_numpy(target[0])
    n_labels = int(labels.max()) + 1
    losses, parameters, predict = LOOPS[method](inputs.shape[1], n_labels)
    rate, decay, nesterov = {"safn": (1e-3, 5e-4, False), "mdd": (0.004, 5e-4, True)}.get(method, (0.01, 1e-3, True))
    optimizer = torch.optim.SGD(parameters, lr=rate, momentum=0.9, weight_decay=decay, nesterov=nesterov, fused=True)
    per_source, per_target = len(inputs) // BATCH, len(others) // BATCH
    started = time.process_time()
    for step in range(steps):
        if step % per_source == 0:
            order = torch.randperm(len(inputs))
        if step % per_target == 0:
            other_order = torch.randperm(len(others))
        rows = order[step % per_source * BATCH :][:BATCH]
        other_rows = other_order[step % per_target * BATCH :][:BATCH]
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 + 1e-3 * step) ** -0.75
        optimizer.zero_grad(set_to_none=True)
        progress = step / steps
        strength = 2 / (1 + np.exp(-10 * progress)) - 1
        losses(inputs[rows], labels[rows], others[other_rows], strength, functional).backward()
        optimizer.step()
    cpu_s = time.process_time() - started
    with torch.inference_mode():
        return predict(others).argmax(dim=1).numpy(), cpu_s


def loop_source_only(n_features, n_labels):
    import torch

    bottleneck, head, _ = make_layers("source_only", n_features, n_labels)
    net = torch.nn.Sequential(bottleneck, head)

    def losses(inputs, labels, others, strength, functional):
        return functional.cross_entropy(net(inputs), labels)

    return losses, list(net.parameters()), lambda x: net.eval()(x)  # noqa: PLW0108


def loop_adversarial(method):
    def make(n_features, n_labels):
        import torch

        from graticule.adaptation.modules.gradient_reversal import reverse_gradient

        bottleneck, head, discriminator = make_layers(method, n_features, n_labels)
        is_source = torch.cat([torch.ones(BATCH, 1), torch.zeros(BATCH, 1)])

        def losses(inputs, labels, others, strength, functional):
            features = bottleneck(torch.cat([inputs, others]))
            logits = head(features)
            seen, weight = features, None
            if method == "cdan":
                p = logits.detach().softmax(dim=1)
                seen = torch.bmm(p.unsqueeze(2), features.unsqueeze(1)).flatten(1)
                p = reverse_gradient(logits, strength=strength).softmax(dim=1)
                raw = 1 + torch.exp((p * (p + 1e-9).log()).sum(dim=1))
                halves = [part / part.mean().detach() for part in raw.split(BATCH)]
                weight = torch.cat(halves).unsqueeze(1)
            domains = discriminator(reverse_gradient(seen, strength=strength))
            adversarial = functional.binary_cross_entropy_with_logits(domains, is_source, reduction="none")
            adversarial = adversarial if weight is None else adversarial * weight
            return functional.cross_entropy(logits[:BATCH], labels) + adversarial.mean()

        parameters = [*bottleneck.parameters(), *head.parameters(), *discriminator.parameters()]
        return losses, parameters, lambda x: head(bottleneck.eval()(x))

    return make


def loop_mcc(n_features, n_labels):
    import torch

    bottleneck, head, _ = make_layers("mcc", n_features, n_labels)

    def losses(inputs, labels, others, strength, functional):
        logits = head(bottleneck(torch.cat([inputs, others])))
        p = (logits[BATCH:] / 2.5).softmax(dim=1)
        entropy = -(p * (p + 1e-9).log()).sum(dim=1).detach()
        weight = 1 + torch.exp(-entropy)
        weight = weight * BATCH / weight.sum()
        confusion = (p * weight.unsqueeze(1)).T @ p
        confusion = confusion / confusion.sum(dim=1, keepdim=True)
        return functional.cross_entropy(logits[:BATCH], labels) + (confusion.sum() - confusion.trace()) / n_labels

    return losses, [*bottleneck.parameters(), *head.parameters()], lambda x: head(bottleneck.eval()(x))


def loop_safn(n_features, n_labels):
    bottleneck, head, _ = make_layers("safn", n_features, n_labels)

    def losses(inputs, labels, others, strength, functional):
        total = 0
        for given in (inputs, others):
            features = bottleneck(given) * 0.5**0.5
            logits = head(features)
            norms = features.norm(dim=1)
            total = total + 0.05 * (norms - norms.detach() - 1).square().mean()
            if given is inputs:
                total = total + functional.cross_entropy(logits, labels)
            else:
                p = logits.softmax(dim=1)
                total = total - 0.1 * (p * (p + 1e-9).log()).sum(dim=1).mean()
        return total

    return losses, [*bottleneck.parameters(), *head.parameters()], lambda x: head(bottleneck.eval()(x))


def loop_mdd(n_features, n_labels):
    import torch

    from graticule.adaptation.modules.gradient_reversal import reverse_gradient

    bottleneck, _, _ = make_layers("mdd", n_features, n_labels)
    heads = torch.nn.ModuleList(
        torch.nn.Sequential(
            torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(1024, n_labels)
        )
        for _ in range(2)
    )

    def losses(inputs, labels, others, strength, functional):
        features = bottleneck(torch.cat([inputs, others]))
        logits = heads[0](features)
        adverse = heads[1](reverse_gradient(features, strength=0.1 * strength))
        said = logits.detach().argmax(dim=1)
        rest = torch.log((1 - adverse[BATCH:].softmax(dim=1)).clamp_min(1e-6))
        away = functional.nll_loss(rest, said[BATCH:])
        home = functional.cross_entropy(adverse[:BATCH], said[:BATCH])
        return functional.cross_entropy(logits[:BATCH], labels) + 4 * home + away

    return losses, [*bottleneck.parameters(), *heads.parameters()], lambda x: heads.eval()[0](bottleneck.eval()(x))


LOOPS = {
    "source_only": loop_source_only,
    "dann": loop_adversarial("dann"),
    "cdan": loop_adversarial("cdan"),
    "mcc": loop_mcc,
    "safn": loop_safn,
    "mdd": loop_mdd,
}


class TwoHeads:
    """Makes the two heads of MCD as one module with two outputs."""

    @staticmethod
    def make(n_labels):
        import torch

        from graticule.adaptation.algorithm import Shape
        from graticule.adaptation.algorithms.mcd import Mcd, McdConfig

        algorithm = Mcd(McdConfig(), Shape(n_features=4, n_labels=n_labels, n_source=1, n_target=1))

        class Both(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = algorithm.first, algorithm.second

            def forward(self, features):
                return [self.first(features), self.second(features)]

        return Both()


def run_pytorch_adapt(method, source, target, seed, steps):
    import torch
    from pytorch_adapt import hooks
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(seed)
    n_labels = int(source[1].max()) + 1
    bottleneck, head, discriminator = make_layers(method, source[0].shape[1], n_labels)
    discriminator = torch.nn.Sequential(discriminator, torch.nn.Flatten(0))
    if method == "mcd":
        head = TwoHeads.make(n_labels)
    models = {"G": bottleneck, "C": head, "D": discriminator}
    rate = 1e-3 if method in ("mcd", "safn") else 0.01
    optimizers = {
        name: torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=1e-3, nesterov=True)
        for name, model in models.items()
    }
    two = [optimizers["G"], optimizers["C"]]
    misc = {"combined_model": torch.nn.Sequential(bottleneck, head)}
    if method == "source_only":
        hook = hooks.ClassifierHook(two)
    elif method == "dann":
        hook = hooks.DANNHook([*two, optimizers["D"]])
    elif method == "mcc":
        hook = hooks.ClassifierHook(two, post=[hooks.MCCHook()])
    elif method == "safn":
        hook = hooks.ClassifierHook(two, post=[hooks.AFNHook()])
    elif method == "mcd":
        hook = hooks.MCDHook(g_opts=[optimizers["G"]], c_opts=[optimizers["C"]])
    else:
        raise SystemExit(f"no case of pytorch-adapt for {method}")
    tensors = [torch.from_numpy(array) for array in (*source, *target)]
    loaders = [
        DataLoader(TensorDataset(*pair), batch_size=BATCH, shuffle=True, drop_last=True)
        for pair in ((tensors[0], tensors[1]), (tensors[2],))
    ]
    started = time.process_time()
    streams = [iter(loader) for loader in loaders]
    for _ in range(steps):
        batch = []
        for place, loader in enumerate(loaders):
            try:
                batch.append(next(streams[place]))
            except StopIteration:
                streams[place] = iter(loader)
                batch.append(next(streams[place]))
        (inputs, labels), (others,) = batch
        data = {"src_imgs": inputs, "src_labels": labels, "target_imgs": others}
        data |= {"src_domain": torch.zeros(BATCH), "target_domain": torch.ones(BATCH)}
        hook({**models, **misc, **data})
    cpu_s = time.process_time() - started
    with torch.inference_mode():
        logits = head.eval()(bottleneck.eval()(tensors[2]))
        return (sum(logits) if method == "mcd" else logits).argmax(dim=1).numpy(), cpu_s


def run_skada(method, source, target, seed, steps):
    import skada.deep
    import torch

    torch.manual_seed(seed)
    n_labels = int(source[1].max()) + 1
    bottleneck, head, discriminator = make_layers(method, source[0].shape[1], n_labels)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.features, self.head = bottleneck, head

        def forward(self, inputs, sample_weight=None):
            return self.head(self.features(inputs))

    per_epoch = max(len(source[1]), len(target[1])) // BATCH
    given = {
        "layer_name": "features",
        "batch_size": 2 * BATCH,
        "max_epochs": max(steps // per_epoch, 1),
        "train_split": None,
        "optimizer": torch.optim.SGD,
        "optimizer__momentum": 0.9,
        "lr": 0.01,
        "verbose": 0,
        "iterator_train__drop_last": True,
    }
    if method == "dann":
        net = skada.deep.DANN(
            Net(), reg=1, domain_classifier=torch.nn.Sequential(discriminator, torch.nn.Flatten(0)), **given
        )
    elif method == "mcc":
        net = skada.deep.MCC(Net(), reg=1, **given)
    else:
        raise SystemExit(f"no case of skada for {method}")
    inputs = np.concatenate([source[0], target[0]])
    labels = np.concatenate([source[1], np.full(len(target[1]), -1)]).astype(np.int64)
    domains = np.concatenate([np.ones(len(source[1])), -2 * np.ones(len(target[1]))]).astype(np.int64)
    started = time.process_time()
    net.fit(inputs, labels, sample_domain=domains)
    spent = time.process_time() - started
    return net.predict(target[0], allow_source=True), spent * steps / (given["max_epochs"] * per_epoch)


LIBRARIES = {
    "graticule": run_graticule,
    "loop": run_loop,
    "pytorch-adapt": run_pytorch_adapt,
    "skada": run_skada,
}


if __name__ == "__main__":
    main()
