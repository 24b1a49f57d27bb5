"""``graticule annotate candidates``: the labels worth asking people about."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values


@click.command(cls=many_values("--predictions"))
@click.argument("source", metavar="IMAGES|CANDIDATES", type=click.Path(path_type=Path))
@click.option("--predictions", type=MANY, multiple=True, metavar="FILE…", help="Predictions, one file a model.")
@click.option("--top", default=5, show_default=True, metavar="N", help="Labels taken from each model.")
@click.option("--selections", type=click.Path(path_type=Path), metavar="FILE", help="CONTAINS answers: prune by them.")
@click.option(
    "--distance", default="wordnet", show_default=True, metavar="NAME", help="wordnet, none or file:PAIRS.csv."
)
@click.option("--glossary", type=click.Path(path_type=Path), metavar="FILE", help="Table: label, name, wordnet_id …")
@click.option("--min-frequency", default=0.5, show_default=True, help="Pruning keeps labels selected by this share.")
@click.option("--far", "far_nodes", default=5.0, show_default=True, help="… and any selected label farther than this.")
@click.option("--fill-to", default=5, show_default=True, help="… fills up to this many labels.")
@click.option("--cut-to", default=6, show_default=True, help="… and cuts to this many.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="candidates.parquet", show_default=True)
def candidates(
    *,
    source: Path,
    predictions: tuple[str, ...],
    top: int,
    selections: Path | None,
    distance: str,
    glossary: Path | None,
    min_frequency: float,
    far_nodes: float,
    fill_to: int,
    cut_to: int,
    output: Path,
) -> None:
    """List the labels of each image that are worth asking people about.

    They are the given label and each model's best ones. With --selections, answers to "does the image contain this?",
    they are pruned to the few among which a person can choose; what is dropped stands in OUTPUT.rejects.parquet.

    \b
    From predictions:
      graticule annotate candidates images.parquet --predictions a.parquet b.parquet --top 5 -o candidates.parquet
    Pruned by CONTAINS answers (the source is the table of candidates):
      graticule annotate candidates candidates.parquet --selections kept.parquet -o pruned.parquet
    Labels that are not in WordNet:
      graticule annotate candidates candidates.parquet --selections kept.parquet --distance file:pairs.csv
    """
    from graticule.annotation.prune import PruneConfig
    from graticule.cli.annotate_steps import CandidatesRequest, make_candidates

    config = PruneConfig(min_frequency=min_frequency, far_nodes=far_nodes, fill_to=fill_to, cut_to=cut_to)
    request = CandidatesRequest(
        source=source,
        predictions=predictions,
        top=top,
        selections=selections,
        distance=distance,
        glossary=glossary,
        prune=config,
        output=output,
    )
    for sentence in make_candidates(request):
        click.echo(sentence)
