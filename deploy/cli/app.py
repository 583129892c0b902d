"""The command tree: which module holds which command. A module is loaded when its command is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

COMMANDS: Final = {
    "up": "up:up",
    "tell": "statements:tell",
    "remember": "statements:remember",
    "correct": "statements:correct",
    "confirm": "statements:confirm",
    "resolve": "statements:resolve",
    "forget": "forgetting:forget",
    "recall": "questions:recall",
    "list": "questions:list_memories",
    "explain": "questions:explain",
    "timeline": "questions:timeline",
    "status": "questions:status",
    "entities": "entities:entities",
    "import": "importing:import_files",
    "maintain": "maintaining:maintain_memories",
    "export": "portability:export",
    "backup": "backing_up:backup",
    "restore": "backing_up:restore",
    "doctor": "doctor:doctor",
    "bench": "benching:bench",
    "ops": "operations:ops",
    "archive": "archiving:archive",
    "audit": "auditing:audit",
    "dead-letters": "dead_letters:dead_letters",
    "generations": "generations:list_generations",
    "rebuild": "rebuilding:rebuild",
    "diff": "diffing:diff",
    "activate": "generations:activate",
    "rollback": "generations:rollback",
    "verify": "verifying:verify",
}
"""Command name → `module:name` of a function, or of a Typer of its own, in this package."""


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        found = getattr(import_module(f".{module}", __package__), name)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(rich_markup_mode=None, add_completion=False)
            found.command(cmd_name)(function)
        command = get_command(found)
        command.name = cmd_name
        return command


app: Final = typer.Typer(
    name="taishi",
    help="Taishi (太史): long-term memory for AI agents. `taishi up` starts it; other commands speak to it over HTTP.",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _tree() -> None:
    """Holds the options of the tree itself; there are none."""


def main() -> None:
    app()
