import { EXIT, UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import { exitCodesHelp, familyHelp, overview } from "../commands/help.ts";
import { COMMANDS } from "../commands/registry.ts";
import type { Command, Surroundings } from "../commands/spec.ts";
import { launch } from "./launch.ts";
import { fail, runCommand } from "./main.ts";

/** Everything but `signalbox run …`, which has a bundle of its own. */
launch(runOther);

async function runOther(argv: readonly string[], world: Surroundings): Promise<number> {
  const [first = "", second = ""] = argv;
  if (["", "help", "--help", "-h"].includes(first)) return help(argv.slice(1), world);
  if (["version", "--version", "-V"].includes(first)) {
    world.out(`signalbox ${VERSION}\n`);
    return EXIT.ok;
  }
  const two = COMMANDS.find(({ id }) => id === `${first} ${second}`);
  const one = COMMANDS.find(({ id }) => id === first);
  const family = COMMANDS.filter(({ id }) => id.startsWith(`${first} `));
  if (two === undefined && family.length > 0 && ["--help", "-h"].includes(second))
    return help([first], world);
  if (two !== undefined) return runCommand(two, argv.slice(2), world);
  if (one !== undefined) return runCommand(one, argv.slice(1), world);
  return fail(unknown(first, second), world, 0);
}

async function help(argv: readonly string[], world: Surroundings): Promise<number> {
  const wanted = COMMANDS.find(({ id }) => id === argv.join(" "));
  if (wanted !== undefined) return runCommand(wanted, ["--help"], world);
  const family = COMMANDS.filter(({ id }) => id.startsWith(`${argv.join(" ")} `));
  if (argv[0] === "exit-codes") world.out(exitCodesHelp());
  else if (argv.length > 0 && family.length > 0) world.out(familyHelp(family));
  else world.out(overview(COMMANDS));
  return EXIT.ok;
}

function unknown(first: string, second: string): UsageError {
  const family = COMMANDS.filter(({ id }: Command) => id.startsWith(`${first} `)).map(({ id }) => id);
  if (family.length > 0) {
    return new UsageError(
      `${quoted(`${first} ${second}`.trim())} is not complete; there are: ${family.join(", ")}`,
    );
  }
  const meant = nearest(
    first,
    COMMANDS.map(({ id }) => id),
  );
  return new UsageError(
    `${quoted(first)} is not a command; ${meant === undefined ? "see: signalbox --help" : `did you mean ${quoted(meant)}?`}`,
  );
}
