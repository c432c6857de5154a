"""`golem fork`: the same history under a new conversation id, in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.exit_codes import DONE, epilog
from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.history import SanitizeReport

EPILOG = epilog(
    "golem fork 0193 --at 6",
    "golem fork --last --chat",
    "golem fork transcripts/healthy-chat.json",
    exit_1="the store could not do it",
    exit_3="the file is no transcript",
)


def command(
    context: typer.Context,
    reference: Annotated[
        str, typer.Argument(metavar="[FILE|ID|NAME]", help="What to fork; or use --last.", show_default=False)
    ] = "",
    *,
    at: Annotated[
        str,
        typer.Option(
            "--at", metavar="N|RUNID", help="Keep the history up to message N, or to that run's end."
        ),
    ] = "",
    last: Annotated[
        bool, typer.Option("--last", help="Fork the conversation that was changed last.")
    ] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Do not sanitize the copy of a file.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Keep the whole messages of a file that is cut off.")
    ] = False,
    chat: Annotated[bool, typer.Option("--chat", help="Open the fork.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Report in JSON.")] = False,
) -> int:
    """Fork a conversation: the same messages under a new id.

    The first one stays as it is. The history of a file outside the store is sanitized on its way in.
    """
    from golem_cli.cli.home import newest_conversation, open_store
    from golem_cli.cli.sources import read_source

    environment = context.obj
    if bool(reference) == last:
        raise WrongUsage("say what to fork: a file, an id or a title, or --last; golem list shows them")
    if chat and as_json:
        raise WrongUsage("--chat opens the fork, so it cannot go with --json")
    newest = newest_conversation(environment) if last else None
    if last and newest is None:
        raise WrongUsage("there is no conversation to fork yet; golem opens the first one")
    source = read_source(newest or reference, environment, salvage=salvage)
    fork = make_fork(source, at=at, trust=trust)
    with open_store(environment).create(fork.conversation) as writer:
        writer.save()
    with environment.told(f"the fork is kept: golem resume {fork.conversation.conversation_id}"):
        _report(source, fork, as_json=as_json, environment=environment)
    if not chat:
        return DONE
    from golem_cli.cli.start_chat import ChatOptions, start_chat

    return start_chat(ChatOptions(resume=fork.conversation.conversation_id), environment)


@dataclass(frozen=True, kw_only=True)
class Fork:
    """The new conversation, how many messages it keeps of how many, and what sanitizing took out of it."""

    conversation: Conversation
    kept: int
    of: int
    report: SanitizeReport | None = None


def make_fork(source: Source, *, at: str, trust: bool) -> Fork:
    """Return the fork of what was read. `at` counts messages as the source has them."""
    from dataclasses import replace

    import msgspec

    from golem_cli.chat import lineage
    from golem_cli.cli.showing import conversation_of
    from golem_cli.core.recovery import cut_off, settle
    from golem_cli.store.times import rfc3339, system_clock

    now = rfc3339(system_clock())
    origin = conversation_of(source.transcript)
    if not origin.messages and not origin.runs:
        raise WrongUsage(f"{source.name} has no messages yet: there is nothing to fork")
    count = len(settle(origin).messages)
    keep = lineage.fork_point(origin, at) if at else count
    if source.conversation_id:
        conversation = lineage.fork(cut_off(origin), now=now, keep=keep)
        return Fork(conversation=conversation, kept=keep, of=count)
    cut = lineage.fork(origin, now=now, keep=keep)  # its messages and runs; the rest stays the file's
    part = replace(
        source.transcript,
        messages=list(cut.messages),
        conversation=source.transcript.conversation and msgspec.structs.replace(origin, runs=cut.runs),
    )
    adopted = lineage.adopt(part, now=now, source=source.name, trust=trust)
    return Fork(conversation=adopted.conversation, kept=keep, of=count, report=adopted.report)


def _report(source: Source, fork: Fork, *, as_json: bool, environment: Environment) -> None:
    from golem_cli.core.recovery import settle

    new = fork.conversation
    if source.transcript.salvaged:
        environment.complain(f"golem: {source.name}: {source.transcript.salvaged}")
    if fork.report is not None:
        from golem_cli.cli.cleaning.sanitizing import about_copy

        environment.complain(about_copy(source, fork.report))
    if as_json:
        environment.say_json(
            {
                "conversationId": new.conversation_id,
                "forkedFrom": new.forked_from,
                "messages": len(settle(new).messages),
            }
        )
        return
    where = f" after message {fork.kept} of {fork.of}" if fork.kept < fork.of else ""
    environment.say(new.conversation_id)
    environment.say(f"  forked from {source.name}{where}; golem resume {new.conversation_id} opens it")
    if source.conversation_id:
        environment.say(f"  golem resume {source.conversation_id} goes back")
