"""Method, limits and provenance: how the numbers came about and what they cannot say."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graticule.data.audit_record import AuditRecord
from graticule.report.figures.figure import DataTable, Field

EXAMPLES_EACH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact of the audit with its name."""

    name: str
    value: str
    is_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What the last panel says besides its fixed text."""

    facts: tuple[Fact, ...]
    dropped: DataTable
    n_dropped: int


def describe_method(record: AuditRecord, *, dropped: pl.DataFrame) -> Method:
    """Return the facts of an audit and what it left out."""
    table = _tabulate_dropped(record, dropped=dropped)
    return Method(facts=_list_facts(record), dropped=table, n_dropped=sum(int(float(row[1])) for row in table.rows))


def _list_facts(record: AuditRecord) -> tuple[Fact, ...]:
    facts = [
        Fact(name="Graticule", value=record.version or "unknown"),
        Fact(name="Made", value=record.created_at or "unknown"),
        Fact(name="Compared by", value=record.by),
        Fact(name="Region scheme", value=record.scheme or "none"),
        Fact(name="Borders", value=record.boundary_policy or "no policy was recorded"),
        Fact(name="Photos", value=record.photos or "nothing was recorded about them"),
        Fact(name="Images", value=f"{record.n_scored:,} scored of {record.n_images:,}"),
        Fact(name="Seed", value=str(record.seed)),
        Fact(name="Random partitions", value=f"{record.n_partitions:,} a label"),
        Fact(name="Bootstrap draws", value=f"{record.n_bootstraps:,}"),
        Fact(name="Fewest images", value=f"{record.min_images:,} in a cell that may be named best or worst"),
    ]
    for model in record.models:
        facts.append(Fact(name=f"Model {model.name}", value=_describe_model(model.kind, model.n_labels)))
        if model.sha256:
            facts.append(Fact(name="SHA-256 of its predictions", value=model.sha256, is_code=True))
        facts += [
            Fact(name=f"{model.name}: {key}", value=str(value))
            for key, value in sorted(model.info.items())
            if isinstance(value, str | int | float | bool) and str(value)
        ]
    facts += [Fact(name=f"SHA-256 of {name}", value=digest, is_code=True) for name, digest in record.inputs.items()]
    return tuple(facts)


def _describe_model(kind: str, n_labels: int) -> str:
    given = "predicted labels without scores" if kind == "labels" else f"scores ({kind})"
    return f"{given} over {n_labels:,} labels"


def _tabulate_dropped(record: AuditRecord, *, dropped: pl.DataFrame) -> DataTable:
    """Return reason, count and examples; counts come from the table of what was dropped and from the record."""
    examples: dict[str, list[str]] = {}
    counts: dict[str, int] = dict(record.dropped)
    for reason, number, paths in _group_dropped(record, dropped=dropped):
        counts[reason] = max(number, counts.get(reason, 0))
        examples[reason] = paths
    rows = [
        (reason, float(number), ", ".join(examples.get(reason, [])))
        for reason, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if number > 0
    ]
    return DataTable(
        fields=(Field(title="Why"), Field(title="Images", form="count"), Field(title="For example")), rows=tuple(rows)
    )


def _group_dropped(record: AuditRecord, *, dropped: pl.DataFrame) -> list[tuple[str, int, list[str]]]:
    """Return reason, count and a few paths; a reason that holds for one of several models names it."""
    reason = pl.col("reason")
    if "model" in dropped.columns and len(record.models) > 1:
        named = pl.concat_str([pl.col("model"), reason], separator=": ")
        reason = pl.when(pl.col("model").is_null()).then(reason).otherwise(named)
    grouped = dropped.group_by(reason.alias("reason"), maintain_order=True)
    return grouped.agg(pl.len().alias("count"), pl.col("path").head(EXAMPLES_EACH)).rows()
