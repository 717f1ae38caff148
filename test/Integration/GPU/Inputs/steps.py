# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of the programs of this folder, which need a compiler at one time
and a GPU at another:

    PROGRAM list
    PROGRAM prepare DIR [--only REGEX] [--bin FOLDER]
    PROGRAM run DIR [--only REGEX] [--coda-run PATH]
"""
import argparse
import json
import os
import re
import sys


def main(doc, names, prepare, run, **more):
    """Does what the command line says and exits: 2 for bad usage, else with what
    `run` gives, 1 where something is wrong.

    names    (options) -> the cases by name, of which --only takes those that match
    prepare  (options) -> None; options.folder, .only, .bin
    run      (options) -> exit code; options.folder, .only, .coda_run
    more     further options: what ArgumentParser.add_argument takes, by name
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "prepare", "run"])
    parser.add_argument("folder", nargs="?", metavar="DIR")
    parser.add_argument("--only", default="", metavar="REGEX", help="the cases whose names match")
    parser.add_argument("--bin", default="build/bin", metavar="FOLDER", help="of prepare: where the tools are")
    parser.add_argument("--coda-run", default="coda-run", metavar="PATH", help="of run")
    for name, settings in more.items():
        parser.add_argument("--" + name.replace("_", "-"), **settings)
    options = parser.parse_args()
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only={options.only} is no regular expression: {error}")
    if options.what == "list":
        print("\n".join(name for name in names(options) if re.search(options.only, name)))
        return
    if not options.folder:
        parser.error(f"{options.what} needs a folder")
    if options.what == "prepare":
        prepare(options)
        return
    if not os.path.isdir(options.folder):
        parser.error(f"no folder '{options.folder}'; prepare makes it")
    sys.exit(run(options))


def write_program(programs):
    """What `PROGRAM NAME [RECIPE]` does: prints the graph of the program of that name, of
    `programs`, (name, program) of each, and writes the recipe of its arguments."""
    program = dict(programs)[sys.argv[1]]
    sys.stdout.write(program.graph())
    if len(sys.argv) > 2:
        recipe = program.recipe()
        del recipe["tolerance"]  # The rule of coda-run judges.
        with open(sys.argv[2], "w") as file:
            json.dump(recipe, file)
