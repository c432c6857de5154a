"""The codec: the message contract's bytes ↔ values. The only place that knows the JSON names."""

from golem_cli.core.codec.dump import (
    dump_conversation,
    dump_message,
    dump_messages,
    dump_run,
    dump_transcript,
)
from golem_cli.core.codec.load import (
    load_conversation,
    load_message,
    load_messages,
    load_run,
    load_transcript,
)
from golem_cli.core.codec.transcript import Form, Transcript

__all__ = [
    "Form",
    "Transcript",
    "dump_conversation",
    "dump_message",
    "dump_messages",
    "dump_run",
    "dump_transcript",
    "load_conversation",
    "load_message",
    "load_messages",
    "load_run",
    "load_transcript",
]
