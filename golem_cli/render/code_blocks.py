"""The code blocks of a Markdown text, as they stand in it."""

from __future__ import annotations

from typing import NamedTuple


class CodeBlock(NamedTuple):
    """One block. `language` is the first word behind its fence, "" without one."""

    language: str
    code: str


def code_blocks(text: str) -> list[CodeBlock]:
    r"""Return the fenced and indented blocks of `text` in their order, those in lists and quotes too.

    The code is without its fences and the indentation of the block, and without its last line end: a command
    that is pasted into a shell shall wait for Enter. Empty blocks are left out, as they are on the screen.

    >>> code_blocks("Run:\n\n```sh\nls -l\n```\n")
    [CodeBlock(language='sh', code='ls -l')]
    """
    from golem_cli.render.markdown import block_parser

    return [
        CodeBlock(language=(token.info.split() or [""])[0], code=token.content.removesuffix("\n"))
        for token in block_parser().parse(text)
        if token.type in ("fence", "code_block") and token.content.strip()
    ]
