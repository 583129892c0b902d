"""The command tree."""

from __future__ import annotations

from typing import Final

import typer

from . import benching, dead_letters, doctor, forgetting, importing, operations, questions, statements, up

app: Final = typer.Typer(
    name="taishi",
    help="Taishi (太史): long-term memory for AI agents. `taishi up` starts it; other commands speak to it over HTTP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("up")(up.up)
app.command("tell")(statements.tell)
app.command("remember")(statements.remember)
app.command("correct")(statements.correct)
app.command("forget")(forgetting.forget)
app.command("recall")(questions.recall)
app.command("list")(questions.list_memories)
app.command("explain")(questions.explain)
app.command("timeline")(questions.timeline)
app.command("status")(questions.status)
app.command("import")(importing.import_files)
app.command("doctor")(doctor.doctor)
app.add_typer(benching.bench, name="bench")
app.add_typer(operations.ops, name="ops")
app.add_typer(dead_letters.dead_letters, name="dead-letters")


def main() -> None:
    app()
