import { EXIT, UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import { helpColumns } from "../commands/help.ts";
import { exitCodesHelp, exitCodesJson, familyHelp, overview } from "../commands/help-topics.ts";
import type { Command, Surroundings } from "../commands/spec.ts";
import { COMMANDS } from "./commands.ts";
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

/** `signalbox help [COMMAND|exit-codes]`. */
async function help(argv: readonly string[], world: Surroundings): Promise<number> {
  const topic = argv.join(" ");
  const columns = helpColumns(world.terminal);
  const wanted = COMMANDS.find(({ id }) => id === topic);
  if (wanted !== undefined) return runCommand(wanted, ["--help"], world);
  const family = COMMANDS.filter(({ id }) => id.startsWith(`${topic} `));
  if (["", "help", "version"].includes(topic)) world.out(overview(COMMANDS, columns));
  else if (topic === "exit-codes") world.out(exitCodesHelp(columns));
  else if (topic === "exit-codes --json") world.out(exitCodesJson());
  else if (family.length > 0) world.out(familyHelp(topic, family, columns));
  else return fail(unknown(argv[0] ?? "", argv[1] ?? ""), world, 0);
  return EXIT.ok;
}

function unknown(first: string, second: string): UsageError {
  const ids = COMMANDS.map(({ id }: Command) => id);
  const family = ids.filter((id) => id.startsWith(`${first} `));
  if (family.length > 0) return unknownOf(first, second, family);
  const meant = nearest(
    first,
    ids.flatMap((id) => [id, id.split(" ", 1)[0] ?? id]),
  );
  const hint = meant === undefined ? "see: signalbox --help" : `did you mean ${quoted(meant)}?`;
  return new UsageError(`${quoted(first)} is not a command; ${hint}`);
}

/** Of `group sett`, or `group` alone. */
function unknownOf(first: string, second: string, family: readonly string[]): UsageError {
  const there = `there are: ${family.join(", ")}`;
  if (second === "") return new UsageError(`${quoted(first)} is not complete; ${there}`);
  const meant = nearest(
    second,
    family.map((id) => id.slice(first.length + 1)),
  );
  const hint = meant === undefined ? there : `did you mean ${quoted(`${first} ${meant}`)}?`;
  return new UsageError(`${quoted(`${first} ${second}`)} is not a command; ${hint}`);
}
