"""``graticule curate concepts``: which labels look different around the world, and what they are called there."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values

FILE = click.Path(path_type=Path)


@click.command(cls=many_values("--heuristic"))
@click.argument("source", metavar="IMAGES", type=FILE)
@click.option("--features", type=FILE, metavar="FILE", help="Features of the images, as graticule embed writes them.")
@click.option("--heuristic", "heuristics", type=MANY, multiple=True, metavar="NAME…", help="Which to run; see below.")
@click.option("--keep", default="any", show_default=True, help="Labels kept by any, majority or all heuristics.")
@click.option("--names", type=FILE, metavar="FILE", help="Names of labels in many languages: labels from tags.")
@click.option("--drop", type=FILE, metavar="FILE", help="Table with the column label: these go.")
@click.option("--merge", type=FILE, metavar="FILE", help="Table with the columns label and into: variants.")
@click.option("--rarest", type=float, default=0.2, show_default=True, help="This share of labels is not judged.")
@click.option("--ratio", type=float, default=0.8, show_default=True, help="leave_one_out: kept below.")
@click.option("--accuracy", type=float, default=0.5, show_default=True, help="region_svm: kept above.")
@click.option("--gini", type=float, default=0.5, show_default=True, help="cluster_gini: the threshold.")
@click.option(
    "--reading", default="within_clusters", show_default=True, help="cluster_gini: or within_regions, as printed."
)
@click.option("--clusters", type=int, metavar="K", help="cluster_gini: clusters.  [default: one a region]")
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="Column that names the regions.")
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("--seed", default=0, show_default=True, help="Seed of folds, clusters and bootstraps.")
@click.option("-o", "--output", type=FILE, default=Path("concepts.parquet"), show_default=True)
def concepts(
    *,
    source: Path,
    features: Path | None,
    heuristics: tuple[str, ...],
    keep: str,
    names: Path | None,
    drop: Path | None,
    merge: Path | None,
    rarest: float,
    ratio: float,
    accuracy: float,
    gini: float,
    reading: str,
    clusters: int | None,
    by: str,
    layout: str | None,
    seed: int,
    output: Path,
) -> None:
    """Keep the labels that look different around the world, by GeoDE's three heuristics on any features.

    leave_one_out: a linear model finds the label less well in a region that it has not seen. region_svm: a linear SVM
    tells the region from its images. cluster_gini: its images fall into clusters as regions do. OUTPUT.concepts.csv
    ranks the labels by all of them, with intervals.

    \b
      graticule curate concepts images.parquet --features features.parquet -o concepts.parquet
    Only one heuristic, every label judged; then what a person decides:
      graticule curate concepts images.parquet --features features.parquet --heuristic region_svm --rarest 0
      graticule curate concepts concepts.parquet --drop drop.csv --merge merge.csv -o pruned.parquet
    Labels from tags in any script; names.csv has the columns label, en, hi, ko, ja, zh, ru, he …, and | between names:
      graticule curate concepts flickr.parquet --names names.csv -o named.parquet
    """
    from graticule.curation.concept_files import ConceptRequest, concepts_file
    from graticule.curation.concepts.concept import ConceptConfig

    config = ConceptConfig(
        least_share=rarest,
        unseen_ratio=ratio,
        region_accuracy=accuracy,
        gini=gini,
        reading=reading,
        n_clusters=clusters,
        seed=seed,
    )
    request = ConceptRequest(
        features=features,
        names=names,
        drop=drop,
        merge=merge,
        heuristics=heuristics,
        keep=keep,
        by=by,
        config=config,
    )
    for sentence in concepts_file(source, output, request=request, layout=layout):
        click.echo(sentence)
