"""The difference between two generations as a page to read: one file, no scripts, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from .amounts import amount

_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;width:100%;margin:1em 0}th,td{text-align:left;vertical-align:top;padding:.3em .6em;
border-bottom:1px solid #ddd}th{background:#f4f4f4}.n{text-align:right;font-variant-numeric:tabular-nums}
.lost{color:#a02020}.gained{color:#1c6c2c}.changed{color:#8a5a00}.words{color:#555}.bad{background:#fdd}
code{font-size:85%;color:#666}
"""


def page(report: dict[str, Any]) -> str:
    """`report` is `diffing.Report.to_json`."""
    before, after, claims = report["before"], report["after"], report["claims"]
    title = f"Generation g{before['generation']} → g{after['generation']}"
    forgotten = report["tombstones"]
    verdict = (
        f"<p class=bad>Of what was forgotten, {len(forgotten['readable']):,} can be read again.</p>"
        if forgotten["readable"]
        else f"<p>Nothing that was forgotten can be read: {amount(forgotten['checked'], 'tombstone')} checked.</p>"
    )
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(before['extractor'])} → {escape(after['extractor'])}. Of the claims that were read before,"
        f" {report['share']:.1%} are lost or changed: {claims['same']:,} same, {claims['lost']:,} lost,"
        f" {claims['changed']:,} changed; {claims['gained']:,} are new."
        f" {amount(after['unread'], 'event')} still to be read, {after['failed']:,} could not be.</p>",
        verdict,
        "<h2>By namespace and predicate</h2>",
        _table(
            ("namespace", "predicate", "same", "lost", "gained", "changed"),
            ([r["namespace"], r["predicate"], r["same"], r["lost"], r["gained"], r["changed"]] for r in report["by"]),
        ),
        "<h2>Beliefs over time</h2>",
        "<p>What holds at each moment, as known now and as known then: same, only before, only after.</p>",
        _table(
            ("at", "same", "only before", "only after", "then: same", "then: only before", "then: only after"),
            ([g["at"], g["same"], g["only_before"], g["only_after"], g["then_same"], g["then_only_before"],
              g["then_only_after"]] for g in report["grid"]),
        ),
        f"<h2>Answers: {sum(not a['same'] for a in report['answers'])} of {len(report['answers'])} differ</h2>",
        _answers([a for a in report["answers"] if not a["same"]]),
        f"<h2>Said by callers and bound to nothing: {len(report['unbound'])}</h2>",
        _table(
            ("namespace", "what", "memory"), ([u["namespace"], u["kind"], u["memory_id"]] for u in report["unbound"])
        ),
        f"<h2>Claims: {len(report['changes']):,} of {claims['lost'] + claims['gained'] + claims['changed']:,}</h2>",
        _changes(report["changes"]),
        "<h2>Digests</h2>",
        _table(
            ("side", "position", "digest"),
            ([side, f"p{d['partition']}:{d['seq']}", d["digest"]] for side, given in zip(("before", "after"),
             report["digests"], strict=True) for d in given),
        ),
    ]  # fmt: skip
    head = f"<meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
    return f"<!doctype html><html><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = list(rows)
    if not lines:
        return "<p>None.</p>"
    named = "".join(
        f"<th{' class=n' if isinstance(value, int) else ''}>{escape(name)}</th>"
        for name, value in zip(head, lines[0], strict=True)
    )
    body = "".join(f"<tr>{''.join(_cell(value) for value in line)}</tr>" for line in lines)
    return f"<table><tr>{named}</tr>{body}</table>"


def _cell(value: Any) -> str:
    return f"<td class=n>{value:,}</td>" if isinstance(value, int) else f"<td>{escape(str(value))}</td>"


def _answers(answers: Iterable[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td>{escape(a['question']['namespace'])}</td><td>{escape(a['question']['text'])}</td>"
        f"<td>{_answer(a['before'])}</td><td>{_answer(a['after'])}</td></tr>"
        for a in answers
    )
    return f"<table><tr><th>namespace<th>question<th>before<th>after</tr>{rows}</table>" if rows else "<p>None.</p>"


def _answer(answer: dict[str, Any]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in answer["items"])
    return f"{escape(answer['answerability'])}<ol>{items}</ol>"


def _changes(changes: Iterable[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td class={c['kind']}>{c['kind']}</td><td>{escape(c['namespace'])}<br>{escape(c['predicate'])}</td>"
        f"<td>{_claim(c['before'])}</td><td>{_claim(c['after'])}</td>"
        f"<td class=words>{escape(c['words'] or 'erased')}<br><code>{c['position'] or ''}</code></td></tr>"
        for c in changes
    )
    head = "<tr><th><th>namespace, predicate<th>before<th>after<th>words</tr>"
    return f"<table>{head}{rows}</table>" if rows else "<p>None.</p>"


def _claim(said: dict[str, Any] | None) -> str:
    if said is None:
        return "—"
    verdict = f" ({escape(said['removed_why'])})" if said["removed_why"] else ""
    span = f"{said['valid_from']} – {said['valid_to']}"
    return f"{escape(str(said['subject']))}: {escape(str(said['value']))}{verdict}<br><code>{escape(span)}</code>"
