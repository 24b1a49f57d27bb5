"""The papers' linear probe (SGD) beside the fast solver of the same objective, and scikit-learn, in one run.

    nice -n 10 python benchmarks/probe_sgd.py                  # 38,353 × 2,048 with 38 labels, drawn; minutes
    nice -n 10 python benchmarks/probe_sgd.py --epochs 50      # shorter; 500 are extrapolated

GeoDE (section 6.1) trains the last layer with SGD, learning rate 0.1, momentum 0.9, 500 epochs, cross-entropy, and
keeps the epoch with the best validation accuracy. The papers name no batch size and no weight decay; batches are 256
here, and the weight decay is what makes SGD's objective that of the other two solvers (1 / (C n)). Features are drawn
with a spectrum that falls off as real ones do, and scaled to a mean squared length of 1; a tenth of the images
validate, another tenth tests. All run in one thread; times are of the processor, so that what else runs matters
little.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from graticule.evaluation.intervals import wilson_interval
from graticule.models.feature_scaling import find_scaling
from graticule.models.logistic import fit_logistic
from graticule.models.logistic_pass import NONE, FoldedRows
from graticule.models.principal_axes import find_axes

N_TRAIN, N_FEATURES, N_LABELS = 38_353, 2_048, 38
C = 10.0
EPOCHS = 500
BATCH = 256


def draw(seed=0):
    """Return features and labels of training, validation and test images."""
    rng = np.random.default_rng(seed)
    sizes = (N_TRAIN, N_TRAIN // 10, N_TRAIN // 10)
    targets = rng.integers(N_LABELS, size=sum(sizes))
    widths = (1 / np.sqrt(1 + np.arange(N_FEATURES))).astype(np.float32)
    centres = rng.standard_normal((N_LABELS, N_FEATURES), dtype=np.float32) * widths * 0.07
    vectors = rng.standard_normal((len(targets), N_FEATURES), dtype=np.float32) * widths + centres[targets]
    vectors = find_scaling(vectors[:N_TRAIN], "overall").apply(vectors)
    ends = np.cumsum(sizes)[:-1]
    return list(zip(np.split(vectors, ends), np.split(targets, ends), strict=True))


def fit_sgd(train, validation, *, epochs):
    """Return weights and intercepts of the best epoch, which epoch it was, and the epochs' time."""
    torch.manual_seed(0)
    features, targets = (torch.from_numpy(part) for part in train)
    held, held_targets = torch.from_numpy(validation[0]), torch.from_numpy(validation[1])
    layer = torch.nn.Linear(N_FEATURES, N_LABELS)
    groups = [{"params": [layer.weight], "weight_decay": 1 / (C * len(features))}, {"params": [layer.bias]}]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    best, kept, kept_epoch = -1.0, None, 0
    started = time.process_time()
    for epoch in range(epochs):
        for batch in torch.randperm(len(features)).split(BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(layer(features[batch]), targets[batch]).backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = float((layer(held).argmax(dim=1) == held_targets).float().mean())
        if accuracy > best:
            best, kept_epoch = accuracy, epoch + 1
            kept = layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()
    return *kept, kept_epoch, time.process_time() - started


def fit_ours(train):
    """Return weights and intercepts, and the time."""
    started = time.process_time()
    axes = find_axes(train[0])
    rows = FoldedRows(features=train[0] @ axes, targets=train[1], n_labels=N_LABELS, bounds=(0, len(train[1])))
    fits = fit_logistic(rows, left_out=[NONE], inverse_penalties=[C], tolerance=1e-4)
    elapsed = time.process_time() - started
    return axes @ fits.weights[0].astype(np.float32), fits.intercepts[0].astype(np.float32), elapsed


def fit_peer(train):
    """Return weights and intercepts of scikit-learn's, and the time."""
    from sklearn.linear_model import LogisticRegression

    started = time.process_time()
    peer = LogisticRegression(C=C, tol=1e-4, max_iter=10_000).fit(*train)
    return peer.coef_.T, peer.intercept_, time.process_time() - started


def tell(name, fitted, test, elapsed, *, note=""):
    """Print a row: CPU time and test accuracy with its interval."""
    weights, intercepts = fitted
    hits = int(((test[0] @ weights + intercepts).argmax(axis=1) == test[1]).sum())
    found = wilson_interval(np.array([hits]), np.array([len(test[1])]), confidence=0.95)
    interval = f"{100 * found.value[0]:.1f} % ({100 * found.low[0]:.1f} to {100 * found.high[0]:.1f})"
    print(f"| {name} | {elapsed:.1f} | {interval} | {note} |", flush=True)


def main():
    """Fit all three and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    train, validation, test = draw()
    with threadpool_limits(limits=1, user_api="blas"):
        print("| solver | CPU s | test accuracy | |")
        print("|---|---|---|---|")
        weights, intercepts, ours = fit_ours(train)
        tell("ours, axes included", (weights, intercepts), test, ours)
        weights, intercepts, peer = fit_peer(train)
        tell("scikit-learn, lbfgs", (weights, intercepts), test, peer, note=f"{peer / ours:.1f} × ours")
        weights, intercepts, epoch, sgd = fit_sgd(train, validation, epochs=given.epochs)
        whole = sgd * EPOCHS / given.epochs
        note = f"best at epoch {epoch}; {whole / ours:.1f} × ours"
        if given.epochs != EPOCHS:
            note += f" if {EPOCHS} epochs take {EPOCHS // given.epochs} times {given.epochs}"
        tell(f"SGD, {given.epochs} epochs", (weights, intercepts), test, sgd, note=note)


if __name__ == "__main__":
    main()
