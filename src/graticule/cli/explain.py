"""``graticule explain``: why a model is less often right in one region than in another."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(context_settings={"show_default": True})
@click.argument("images", type=click.Path(path_type=Path))
@click.option("--predictions", metavar="FILE", required=True, type=click.Path(path_type=Path), help="Of one model.")
@click.option("--source", metavar="QUERY", required=True, help="Where the model does well; see below.")
@click.option("--target", metavar="QUERY", required=True, help="Where it may not.")
@click.option("--features", type=click.Path(path_type=Path), help="Features of whole images (graticule embed).")
@click.option("--masks", type=click.Path(path_type=Path), help="Folder of masks, white where the object is.")
@click.option("--mask-rcnn", metavar="FILE|hub", help="Make masks by Mask R-CNN with these weights instead.")
@click.option("--model", metavar="NAME", help="With --masks or --saliency: the network whose feature map is pooled.")
@click.option("--weights", metavar="FILE|hub|package|random", help="With --model: where its weights come from.")
@click.option("--context", type=click.Path(path_type=Path), help="Background features, if they are at hand.")
@click.option("--design", type=click.Path(path_type=Path), help="Foreground features, if they are at hand.")
@click.option("--group", metavar="COLUMN", help="Images that show the same thing (a sign, a shop) share a value.")
@click.option("--superclasses", metavar="FILE|wordnet", help="Labels' groups: label and superclass, or WordNet's.")
@click.option("--adapted", type=click.Path(path_type=Path), help="Predictions after adaptation, to compare.")
@click.option("--saliency", metavar="METHOD", help="Show what --model looked at: grad_cam or attention_rollout.")
@click.option("--swap", is_flag=True, help="With --masks and --model: exchange backgrounds and predict again.")
@click.option("--distance", default="energy", help="Distance by label: energy, mmd, frechet, domain_classifier.")
@click.option("--permutations", type=click.INT, default=199, help="Random deals of each permutation test.")
@click.option("--bootstraps", type=click.INT, default=100, help="Draws behind the intervals.")
@click.option("--min-images", type=click.INT, default=8, help="Labels with fewer in a region are not judged alone.")
@click.option("--projection/--no-projection", default=True, help="Draw t-SNE, where scikit-learn is installed.")
@click.option("--title", help="Title of the page.")
@click.option("--seed", type=click.INT, default=0, help="Seed of all draws.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("explain"), help="Folder.")
def explain(**options: object) -> None:
    """Say why a model is less often right in the target than in the source.

    The drop is split into label frequencies (prior), backgrounds (context), the look of the objects (design) and the
    rest; the parts sum to the drop and have intervals. Backgrounds and objects need --masks with --model; with
    --features alone both are one part; with neither, label frequencies and the rest are told apart.

    QUERY picks images by the columns of the images table: ==, !=, <, <=, >, >=, in, not in, and, or, not, is None.
    Predict source images that the model was trained on out of fold (graticule probe does). The folder gets index.html,
    labels.csv (a verdict a label), metrics.parquet and .csv, embedding.parquet and figures/.

    \b
      graticule explain images.parquet --predictions germany.parquet --features features.parquet \\
        --source 'region == "Germany"' --target 'region == "Italy"' -o explain/
      graticule explain images.parquet --predictions germany.parquet --masks masks/ --group sign \\
        --model timm/tf_efficientnet_lite0 --source 'region == "Germany"' --target 'region == "Italy"' -o explain/
      graticule explain images.parquet --predictions before.parquet --adapted after.parquet \\
        --superclasses groups.csv --source 'region == "USA"' --target 'region == "Asia"' -o explain/
    """
    from graticule.cli.explain_steps import ExplainRequest, run_explain

    for line in run_explain(ExplainRequest(**options)):  # pyright: ignore[reportArgumentType]
        click.echo(line)
