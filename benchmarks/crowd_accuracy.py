"""How often each aggregator is right, on every set of people's answers whose truth is known otherwise.

    python benchmarks/crowd_accuracy.py ../shared/data --docs docs/aggregation.md
    python benchmarks/crowd_accuracy.py ../shared/data --only rte bluebird

DATA is a folder with `crowd/` (sets of Yuan Li's truth-inference-at-scale, and LabelMe), `reassessed_imagenet`,
`label_errors_mturk`, `cifar10h` and `imagenet_mistakes`; what is absent is left out, and named. `--docs` writes the
tables between the marks ``<!-- crowd-accuracy -->`` and ``<!-- /crowd-accuracy -->`` of a page.

The last columns give each set a fifth of its truth as right answers, drawn five times (seeds 0 to 4); they are scored
on the other images alone, for the majority vote and for what `choose_method` chooses.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.aggregate import Aggregate
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.answers import Answers, code_answers
from graticule.annotation.chooser import aggregate_answers, choose_method

METHODS = ("majority", "dawid_skene", "one_coin", "glad", "mace", "hbcc")
GOLD_SHARE = 0.2
GOLD_SEEDS = 5
MARKS = ("<!-- crowd-accuracy -->", "<!-- /crowd-accuracy -->")
EBCC = {
    "active-crowd-toolkit/CF": 0.883,
    "active-crowd-toolkit/CF_amt": 0.857,
    "active-crowd-toolkit/MS": 0.787,
    "active-crowd-toolkit/SP": 0.915,
    "active-crowd-toolkit/SP_amt": 0.944,
    "active-crowd-toolkit/ZenCrowd_all": 0.862,
    "active-crowd-toolkit/ZenCrowd_in": 0.781,
    "crowd_truth_inference/d_jn-product": 0.935,
    "crowd_truth_inference/d_sentiment": 0.961,
    "crowd_truth_inference/s4_Face_Sentiment_Identification": 0.635,
    "crowd_truth_inference/s5_AdultContent": 0.748,
    "SpectralMethodsMeetEM/bluebird": 0.861,
    "SpectralMethodsMeetEM/rte": 0.931,
    "SpectralMethodsMeetEM/trec": 0.704,
}
"""Published accuracy of EBCC (Li, Rubinstein and Cohn 2019): of 40 random starts, the one of the best bound."""
OTHERS = ("crowdscale2013/fact_eval",)
YES, MAYBE = 2, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Answers and what is known of the truth: image_id and label, and for CONTAINS whether the label holds."""

    name: str
    answers: Answers
    truth: pl.DataFrame
    published: float | None = None


def read_choice(folder: Path, name: str) -> Crowd:
    """A set of one chosen label an item: `label.csv` and `truth.csv`."""
    text = dict.fromkeys(("item", "worker", "label", "truth"), pl.String)
    rows = (
        pl.read_csv(folder / "label.csv", schema_overrides=text).unique(maintain_order=True).with_row_index("task_id")
    )
    truth = pl.read_csv(folder / "truth.csv", schema_overrides=text)
    labels = sorted({*rows["label"], *truth["truth"]}, key=int)
    table = rows.select(
        pl.col("task_id").cast(pl.String),
        pl.col("worker").alias("worker_id"),
        pl.col("item").alias("image_id"),
        "label",
    )
    answers = code_answers(table, labels=labels, repeats="keep")
    known = truth.select(pl.col("item").alias("image_id"), pl.col("truth").alias("label"))
    known = known.filter(pl.col("image_id").is_in(answers.images.to_list()))
    return Crowd(name=name.rsplit("/", maxsplit=1)[-1], answers=answers, truth=known, published=EBCC.get(name))


def read_labelme(folder: Path) -> Crowd:
    """LabelMe: 1,000 photos of eight scenes, 59 workers."""
    votes = np.loadtxt(folder / "answers.txt", dtype=int)
    image, worker = np.nonzero(votes >= 0)
    table = pl.DataFrame(
        {"task_id": image, "worker_id": worker, "image_id": image, "label": votes[image, worker]}
    ).cast(pl.String)
    labels = np.loadtxt(folder / "LabelMe_Z_train.txt", dtype=int)
    truth = pl.DataFrame({"image_id": np.arange(len(labels)), "label": labels}).cast(pl.String)
    return Crowd(name="labelme", answers=code_answers(table), truth=truth)


def as_contains(votes: pl.DataFrame) -> pl.DataFrame:
    """ReaL's votes (rater_id, image_no, label, answer 0 to 2) as a table of CONTAINS answers."""
    return votes.select(
        pl.format("{}-{}", "image_no", "label").alias("task_id"),
        pl.col("rater_id").cast(pl.String).alias("worker_id"),
        pl.col("image_no").cast(pl.String).alias("image_id"),
        pl.col("label").cast(pl.String),
        (pl.col("answer") == YES).alias("selected"),
        (pl.col("answer") == MAYBE).alias("is_unsure"),
        pl.lit("contains").alias("kind"),
    )


def pairs_of(pairs: pl.DataFrame) -> pl.DataFrame:
    """Image, label and whether it holds, with text names."""
    return pairs.select(
        pl.col("image_no").cast(pl.String).alias("image_id"), pl.col("label").cast(pl.String), "selected"
    )


def read_golden(folder: Path) -> Crowd:
    """ReaL's golden set: 78 raters on 1,135 questions that five experts answered too."""
    experts = pl.read_parquet(folder / "votes_golden_experts.parquet")
    truth = experts.group_by("image_no", "label").agg(selected=(pl.col("answer") == YES).mean() > 0.5)
    answers = code_answers(as_contains(pl.read_parquet(folder / "votes_golden_raters.parquet")))
    return Crowd(name="ReaL, golden set", answers=answers, truth=pairs_of(truth))


def read_real(folder: Path) -> list[tuple[int, list[int]]]:
    """Number of an image in ImageNet's validation set, and its ReaL labels."""
    return list(enumerate(json.loads((folder / "real.json").read_text()), start=1))


def read_votes(folder: Path) -> Crowd:
    """ReaL's whole vote; the truth is the published labels, themselves aggregated from it."""
    votes = pl.read_parquet(folder / "votes.parquet")
    accepted = {(number, label) for number, labels in read_real(folder) for label in labels}
    asked = votes.select("image_no", "label").unique(maintain_order=True)
    truth = asked.with_columns(selected=pl.Series([pair in accepted for pair in asked.iter_rows()]))
    return Crowd(
        name="ReaL, all votes, against its labels", answers=code_answers(as_contains(votes)), truth=pairs_of(truth)
    )


def read_mistakes(folder: Path, votes: Crowd) -> Crowd:
    """Predictions that experts called mistakes: no vote of ReaL's should accept them."""
    found = set()
    for name in ("vit3b_mistakes", "greedy_soups_mistakes"):
        for image, entry in json.loads((folder / f"{name}.json").read_text()).items():
            if entry["failure severity"] != "Borderline":
                found.add(
                    (
                        image.removesuffix(".JPEG").removeprefix("ILSVRC2012_val_").lstrip("0"),
                        str(entry["top_prediction"]),
                    )
                )
    truth = pl.DataFrame(sorted(found), schema=["image_id", "label"], orient="row").with_columns(
        selected=pl.lit(value=False)
    )
    asked = votes.truth.select("image_id", "label")
    return Crowd(
        name="ReaL, all votes, on experts' mistakes",
        answers=votes.answers,
        truth=truth.join(asked, on=["image_id", "label"], how="semi", maintain_order="left"),
    )


def read_label_errors(folder: Path, real: Path) -> Crowd:
    """Five nameless workers on suspected label errors, two labels an image; the truth is ReaL's labels."""
    entries = json.loads((folder / "imagenet_mturk.json").read_text())
    accepted = {number: set(labels) for number, labels in read_real(real)}
    rated = set(pl.read_parquet(real / "votes.parquet", columns=["image_no", "label"]).unique().iter_rows())
    rows, truth = [], []
    for entry in entries:
        votes = entry["mturk"]
        for label, chose in (("given_original_label", "given"), ("our_guessed_label", "guessed")):
            pair = (entry["id"], entry[label])
            n_yes = votes[chose] + votes["both"]
            says = [True] * n_yes + [False] * (sum(votes.values()) - n_yes)
            rows += [(*pair, f"{entry['id']}-{label}-{n}", said) for n, said in enumerate(says)]
            if pair in rated:
                truth.append((*pair, pair[1] in accepted[pair[0]]))
    table = pl.DataFrame(rows, schema=["image_id", "label", "worker_id", "selected"], orient="row").with_columns(
        pl.col("image_id", "label").cast(pl.String), pl.lit("contains").alias("kind")
    )
    table = table.with_columns(task_id=pl.format("{}-{}", "image_id", "label"))
    known = pl.DataFrame(truth, schema=["image_no", "label", "selected"], orient="row")
    return Crowd(name="label_errors_mturk, against ReaL", answers=code_answers(table), truth=pairs_of(known))


def read_cifar(folder: Path, errors: Path) -> Crowd:
    """CIFAR-10H's nameless answers; known are images on which four of five workers of another study agree."""
    counts = np.load(folder / "cifar10h-counts.npy")
    image, label = np.nonzero(counts)
    times = counts[image, label]
    table = pl.DataFrame({"image_id": np.repeat(image, times), "label": np.repeat(label, times)})
    table = table.with_row_index("worker_id").with_columns(task_id="image_id").cast(pl.String)
    truth = []
    for entry in json.loads((errors / "cifar10_mturk.json").read_text()):
        for name, chose in (("given_original_label", "given"), ("our_guessed_label", "guessed")):
            if entry["mturk"][chose] >= 4:
                truth.append((entry["id"], entry[name]))
    known = pl.DataFrame(truth, schema=["image_id", "label"], orient="row").cast(pl.String)
    return Crowd(name="cifar10h, against label_errors_mturk", answers=code_answers(table), truth=known)


def find_crowds(data: Path) -> Iterator[tuple[str, Callable[[], Crowd]]]:
    """Name and reader of every set."""
    at_scale, real, errors = (
        data / "crowd" / "truth-inference-at-scale", data / "reassessed_imagenet", data / "label_errors_mturk"
    )  # fmt: skip
    for name in (*EBCC, *OTHERS):
        if (at_scale / name).exists():
            yield name, lambda name=name: read_choice(at_scale / name, name)
        else:
            print(f"absent: {name}")
    yield "labelme", lambda: read_labelme(data / "crowd" / "labelme")
    yield "cifar10h", lambda: read_cifar(data / "cifar10h", errors)
    yield "real_golden", lambda: read_golden(real)
    yield "real_votes", lambda: read_votes(real)
    yield "imagenet_mistakes", lambda: read_mistakes(data / "imagenet_mistakes", read_votes(real))
    yield "label_errors_mturk", lambda: read_label_errors(errors, real)


def score(aggregate: Aggregate, truth: pl.DataFrame) -> float:
    """Share of the known answers that the aggregate gives."""
    if "selected" in truth.columns:
        accepted = aggregate.to_labels().select("image_id", "label").with_columns(says=pl.lit(value=True))
        joined = truth.join(accepted, on=["image_id", "label"], how="left")
        return float((joined["says"].fill_null(value=False) == joined["selected"]).mean())
    main = aggregate.to_labels(min_probability=0.0).filter("is_main").select("image_id", found="label")
    joined = truth.join(main, on="image_id", how="left")
    return float((joined["found"] == joined["label"]).fill_null(value=False).mean())


def score_with_gold(crowd: Crowd) -> tuple[float, float, str]:
    """Mean accuracy on the unknown four fifths of the chosen method and of the vote, and how often each was chosen."""
    chosen, voted, names = [], [], []
    for seed in range(GOLD_SEEDS):
        known = crowd.truth.sort(["image_id", "label"]).sample(fraction=GOLD_SHARE, seed=seed)
        unknown = crowd.truth.join(known, on=["image_id", "label"], how="anti")
        gold = code_gold(known, crowd.answers)
        names.append(choose_method(crowd.answers, gold=gold).method)
        chosen.append(score(aggregate_answers(crowd.answers, method=names[-1], gold=gold), unknown))
        voted.append(score(aggregate_answers(crowd.answers, method="majority", gold=gold), unknown))
    counted = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
    return float(np.mean(chosen)), float(np.mean(voted)), counted


def measure(crowd: Crowd, *, with_gold: bool) -> dict[str, object]:
    """One row of the table."""
    row: dict[str, object] = {"name": crowd.name, "published": crowd.published, "n_truth": crowd.truth.height}
    row |= {
        "n_images": len(crowd.answers.images),
        "n_workers": len(crowd.answers.workers),
        "n_answers": len(crowd.answers),
    }
    for name in METHODS:
        row[name] = score(AGGREGATORS[name]().aggregate(crowd.answers), crowd.truth)
    row["auto"] = score(aggregate_answers(crowd.answers), crowd.truth)
    if with_gold:
        row["auto_gold"], row["majority_gold"], row["chosen"] = score_with_gold(crowd)
    return row


def shown(value: object) -> str:
    return f"{value:.3f}".removeprefix("0") if isinstance(value, float) else "" if value is None else f"{value:,}"


def in_bold(row: dict[str, object], name: str) -> str:
    """The accuracy of a method, bold if no other one is better."""
    text = shown(row[name])
    best = max(round(float(row[other]), 3) for other in METHODS)
    return f"**{text}**" if name in METHODS and round(float(row[name]), 3) == best else text


def make_table(rows: list[dict[str, object]]) -> list[str]:
    """The table as Markdown."""
    names = [*METHODS, "auto"]
    lines = [
        f"| set | images | workers | answers | known | {' | '.join(names)} | EBCC "
        "| auto, ⅕ known | majority, ⅕ known | chosen |",
        f"|---|{'---:|' * (7 + len(names))}---|",
    ]
    for row in rows:
        cells = [row["name"], *(shown(row[name]) for name in ("n_images", "n_workers", "n_answers", "n_truth"))]
        cells += [in_bold(row, name) for name in names]
        cells += [shown(row.get(name)) for name in ("published", "auto_gold", "majority_gold")]
        lines.append("| " + " | ".join([*map(str, cells), str(row.get("chosen", ""))]) + " |")
    known = [row for row in rows if row["published"] is not None]
    if known:
        means = {name: float(np.mean([row[name] for row in known])) for name in (*names, "published")}
        extra = [
            shown(float(np.mean([row[name] for row in known]))) if all(name in row for row in known) else ""
            for name in ("auto_gold", "majority_gold")
        ]
        cells = [
            f"mean of the {len(known)} with EBCC",
            "",
            "",
            "",
            "",
            *(shown(means[name]) for name in (*names, "published")),
        ]
        lines.append("| " + " | ".join([*cells, *extra, ""]) + " |")
    return lines


def write_docs(page: Path, lines: list[str]) -> None:
    """Put the lines between the marks of a page."""
    before, _, rest = page.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    page.write_text("\n".join([before + MARKS[0], "", *lines, "", MARKS[1] + after]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="Sets whose name ends so.")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="Page whose table to replace.")
    arguments = parser.parse_args()
    rows = []
    for name, read in find_crowds(arguments.data):
        if arguments.only and not any(name.endswith(part) for part in arguments.only):
            continue
        started = time.process_time()
        rows.append(measure(read(), with_gold=name not in ("real_votes", "imagenet_mistakes")))
        print(f"{name}: {time.process_time() - started:.1f} CPU s", flush=True)
    lines = make_table(rows)
    print("\n".join(lines))
    if arguments.docs:
        write_docs(arguments.docs, lines)


if __name__ == "__main__":
    main()
