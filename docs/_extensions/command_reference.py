"""The directive ``command-reference``: every command with its options, from the parsers that run."""

import argparse
import re
import textwrap
from collections import defaultdict

#: Of a heading: the commands, and what some of them can do.
LEVELS = {"command": "##", "action": "###"}


class Recorder(argparse.ArgumentParser):
    """A parser that remembers its arguments, by the titles of their groups."""

    def __init__(self, *args, **options):
        self.recorded, self.actions = defaultdict(list), {}
        super().__init__(*args, **options)
        self.color = False  # from Python 3.14 on, usage is in colours otherwise

    def add_argument(self, *names, **options):
        action = super().add_argument(*names, **options)
        self._record("", action)
        return action

    def add_argument_group(self, *args, **options):
        return self._recording(super().add_argument_group(*args, **options))

    def add_mutually_exclusive_group(self, **options):
        return self._recording(super().add_mutually_exclusive_group(**options))

    def add_subparsers(self, **options):
        action = super().add_subparsers(**options)
        self.actions = action.choices
        return action

    def _recording(self, group):
        add = group.add_argument

        def add_argument(*names, **options):
            action = add(*names, **options)
            self._record(group.title or "", action)
            return action

        group.add_argument = add_argument
        return group

    def _record(self, title, action):
        if "--help" not in action.option_strings:
            self.recorded[title].append(action)


def write_reference():
    """The reference as Markdown, line by line."""
    from mbauc.cli import COMMANDS
    from mbauc.cli.main import whole_parser

    commands = whole_parser(Recorder).actions
    yield "| command | what it does |"
    yield "|---|---|"
    for name in commands:
        yield f"| [`mbauc {name}`](#mbauc-{name}) | {escape(COMMANDS[name][1])} |"
    yield ""
    for parser in commands.values():
        yield from write_command(parser, LEVELS["command"])
        for action in parser.actions.values():
            yield from write_command(action, LEVELS["action"])


def write_command(parser, level):
    """One command: usage, description, options, examples."""
    yield from (f"{level} {parser.prog}", "")
    yield from (f"```{{program}} {parser.prog}", "```", "")
    # not the formatter of --help, whose width is that of the terminal
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=84)
    usage = parser.format_usage().rstrip().replace("\n       ", "\n").removeprefix("usage: ")
    yield from ("```text", usage, "```", "")
    yield from write_text(parser.description)
    for title, actions in parser.recorded.items():
        positional = [action for action in actions if not action.option_strings]
        optional = [action for action in actions if action.option_strings]
        for heading, group in (("Arguments", positional), (title or "Options", optional)):
            if group:
                yield from (f":::{{rubric}} {heading[0].upper()}{heading[1:]}", ":::", "")
                for action in group:
                    yield from write_option(action, parser.prog)
    yield from write_examples(parser.epilog or "")


def write_option(action, prog):
    """One option, which other pages can refer to."""
    values = {key: value for key, value in vars(action).items() if value is not argparse.SUPPRESS}
    text = (action.help or "") % (values | {"prog": prog})
    if action.choices and action.metavar is None and not action.option_strings:
        text = ". ".join(filter(None, (text, f"one of {', '.join(map(str, action.choices))}")))
    value = metavar(action)
    names = ", ".join(f"{name} {value}".rstrip() for name in action.option_strings) or value
    yield from (f":::{{option}} {names}", inline(text[:1].upper() + text[1:]), ":::", "")


def metavar(action):
    """What stands behind an option."""
    if action.nargs == 0:
        return ""
    one = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}"
        if action.choices and action.option_strings
        else action.dest.upper().replace("_", "-")
    )
    several = {"+": f"{one} [{one} ...]", "*": f"[{one} ...]", "?": f"[{one}]"}
    return several.get(action.nargs, one)


def write_text(text):
    """Paragraphs, and lists of what is indented: a name, two blanks, what it means."""
    for paragraph in (text or "").strip().split("\n\n"):
        pieces = re.split(r"(?m)^  (?=\S)", paragraph)
        for piece in pieces:
            # what follows a list at the margin is a paragraph again
            head, *rest = re.split(r"\n(?=\S)", piece, maxsplit=1) if len(pieces) > 1 else [piece]
            if piece is pieces[0]:
                yield from (inline(" ".join(piece.split())), "")
                continue
            name, meaning = re.split(r"\s{2,}", head, maxsplit=1)
            yield from (f"* {inline(name)}: {inline(' '.join(meaning.split()))}",)
            if rest:
                yield from ("", inline(" ".join(rest[0].split())), "")


def write_examples(epilog):
    """Commands in a box that can be copied; what stands before and behind them is text."""
    head, _, rest = epilog.partition(":")
    if not rest:
        return
    yield from (f":::{{rubric}} {head[0].upper()}{head[1:]}", ":::", "")
    lines = rest.strip("\n").splitlines()
    if not lines[0].startswith("  "):
        lines = [f"  {line.strip()}" for line in " ".join(lines).split(";")]
    code = [line for line in lines if line.startswith(" ")]
    yield from ("```sh", textwrap.dedent("\n".join(code)), "```", "")
    yield from (escape(line) for line in lines if not line.startswith(" "))
    yield ""


def inline(text):
    """Text with commands and options as code."""
    parts = re.split(r"('mbauc [^']*'|(?<![\w-])--?[a-zA-Z][\w-]*)", text)
    return "".join(f"`{part.strip(chr(39))}`" if k % 2 else escape(part) for k, part in enumerate(parts))


def escape(text):
    """Text in which no letter has a meaning for Markdown."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def setup(app):
    """Register the directive."""
    from docutils import nodes
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    class CommandReference(SphinxDirective):
        def run(self):
            place = nodes.Element()
            text = "\n".join(write_reference()).split("\n")
            self.state.nested_parse(StringList(text, source="mbauc --help"), 0, place, match_titles=True)
            return place.children

    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
