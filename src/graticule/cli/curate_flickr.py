"""``graticule curate flickr`` and ``flickr-positions``: photos and positions from Flickr's API."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import many_values

FILE = click.Path(path_type=Path)
ADDRESS = click.option(
    "--address", metavar="URL", help="Where the API is.  [default: https://api.flickr.com/services/rest/]"
)
PER_HOUR = click.option(
    "--per-hour", type=int, default=3600, show_default=True, help="Questions an hour; Flickr allows no more."
)
PROGRESS = click.option("--progress/--no-progress", default=True, help="Draw a progress bar.")


@click.command(cls=many_values("--license"))
@click.argument("names", type=FILE)
@click.option(
    "--area", "areas", multiple=True, metavar="W,S,E,N", help="Degrees; may be repeated.  [default: the world]"
)
@click.option(
    "--license", "licenses", type=int, multiple=True, metavar="N…", help="Licences by Flickr's number.  [default: all]"
)
@click.option("--accuracy", type=int, default=1, show_default=True, help="Positions at least so: 11 city, 16 street.")
@PER_HOUR
@ADDRESS
@PROGRESS
@click.option("-o", "--output", type=FILE, default=Path("flickr.parquet"), show_default=True)
def flickr(
    *,
    names: Path,
    areas: tuple[str, ...],
    licenses: tuple[int, ...],
    accuracy: int,
    per_hour: int,
    address: str | None,
    progress: bool,
    output: Path,
) -> None:
    """List the photos on Flickr that the names of a label are tags of, in an area: place, licence, owner, address.

    NAMES is a table as `graticule curate concepts --names` takes it: label, en, hi, ko, ja …, and | between names. The
    key of your application comes from the environment, FLICKR_API_KEY, and is written nowhere. Searches with more
    photos than Flickr lists (4,000) are divided, by area and then by time. Answers are kept in OUTPUT.partial until the
    table is written: a run that was killed, or that Flickr stopped, goes on when the same command is typed again.

    \b
      export FLICKR_API_KEY=…
      graticule curate flickr names.csv --area 68,6,97,36 -o india.parquet
    Two areas, and only CC BY and CC0 (numbers: https://www.flickr.com/services/api/flickr.photos.licenses.getInfo.html):
      graticule curate flickr names.csv --license 4 9 --area -125,24,-66,50 --area 128,30,146,46
    Then countries and regions by position, and one label a photo:
      graticule locate flickr.parquet --scheme geonet -o located.parquet
      graticule curate filter located.parquet --use location in_region one_label --concepts names.csv
    """
    from graticule.curation.flickr_files import FlickrRequest, search_flickr
    from graticule.data.flickr.client import ADDRESS as FLICKR
    from graticule.data.flickr.client import FlickrConfig

    config = FlickrConfig(address=address or FLICKR, per_hour=per_hour)
    request = FlickrRequest(areas=areas, licenses=licenses, accuracy=accuracy, config=config)
    for sentence in search_flickr(names, output, request=request, progress=progress):
        click.echo(sentence)


@click.command("flickr-positions")
@click.argument("images", type=FILE)
@PER_HOUR
@ADDRESS
@PROGRESS
@click.option("-o", "--output", type=FILE, default=Path("positions.parquet"), show_default=True)
def flickr_positions(*, images: Path, per_hour: int, address: str | None, progress: bool, output: Path) -> None:
    """Ask Flickr where photos were taken, by their numbers: a question a photo, 3,600 an hour.

    IMAGES is a table whose source_id, or else image_id, is Flickr's number of a photo. Images that have a position keep
    it; those that Flickr has none of stand in OUTPUT.rejects.parquet. The key comes from FLICKR_API_KEY, and a run that
    was killed goes on where it stopped.

    \b
      export FLICKR_API_KEY=…
      graticule scan asia_test.txt --layout geonet --index-only -o images.parquet
      graticule curate flickr-positions images.parquet -o positions.parquet
    """
    from graticule.curation.flickr_files import place_flickr
    from graticule.data.flickr.client import ADDRESS as FLICKR
    from graticule.data.flickr.client import FlickrConfig

    config = FlickrConfig(address=address or FLICKR, per_hour=per_hour)
    for sentence in place_flickr(images, output, config=config, progress=progress):
        click.echo(sentence)
