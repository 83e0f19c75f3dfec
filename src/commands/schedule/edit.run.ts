import { ConfigError, UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { checkedName } from "../../protocol/names.ts";
import { parseCron } from "../../schedule/cron.ts";
import { checkedDefinition, type Definition } from "../../schedule/definition.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { modifying } from "../../work/schedule/deeds.ts";
import { readSeen, type Seen } from "../../work/schedule/seen.ts";
import { ACTING, reasonFlag, textFlag } from "../flags.ts";
import type { Call, Surroundings } from "../spec.ts";
import { withEscapes } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";
import { Amending } from "./amending.ts";
import { givenIn, withGiven } from "./definition-input.ts";
import { typed } from "./editor.ts";
import { instantFlag } from "./instant.ts";

export const execute = withStore(async (call, world, desk) => {
  const [given = ""] = call.args;
  const id = checkedName("schedule", given);
  reasonFlag(call); // before anything is typed
  const seen = (await readSeen(desk, [id], desk.signal)).schedules.get(id);
  if (seen === undefined || seen.definitionMod === 0n)
    throw new NotFoundError(`there is no schedule ${quoted(id)}; see: signalbox schedule list`);
  return isEdited(call) ? await byFlags(call, world, desk, seen) : await inEditor(call, world, desk, seen);
});

const ASIDE = new Set([...ACTING.map(({ name }) => name), "config", "verbose", "quiet"]);

/** Whether a flag says what is to change. */
function isEdited({ flags, command }: Call): boolean {
  return command.length > 0 || Object.keys(flags).some((name) => !ASIDE.has(name));
}

async function byFlags(
  call: Call,
  world: Surroundings,
  desk: Desk,
  { id, definition, fault }: Seen,
): Promise<number> {
  if (definition === undefined)
    throw new ConfigError(
      `schedule ${quoted(id)} cannot be read: ${fault}; open it in your editor: signalbox schedule edit`,
    );
  const now = desk.clock.wall();
  const given = givenIn(call, definition.timezone, now);
  const zone = given.timezone ?? definition.timezone;
  const start = instantFlag(call, "start", zone, now);
  const at = instantFlag(call, "at", zone, now);
  const first = { ...(start !== undefined && { start }), ...(at !== undefined && { at }) };
  const change = (before: Definition | undefined) =>
    withGiven(withTimes(before ?? definition, call), given, call);
  return await run(call, world, desk, id, modifying([id], change, first));
}

function withTimes(before: Definition, call: Call): Definition {
  const { type: old, ...rest } = before;
  const cron = parseCron(textFlag(call, "cron") ?? before.cron).text;
  const type = textFlag(call, "type") ?? old;
  return { ...rest, cron, ...(type !== undefined && type !== "" && type !== "-" && { type }) };
}

async function inEditor(call: Call, world: Surroundings, desk: Desk, seen: Seen): Promise<number> {
  if (!world.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal, or flags that say what to change; see: signalbox schedule edit --help",
    );
  const { id, definition = {} } = seen;
  return await typed(call, world, desk, {
    text: withEscapes(`${JSON.stringify(definition, undefined, 2)}\n`),
    name: `schedule ${id}`,
    read: (text) => checkedDefinition(JSON.parse(text) as Definition),
    take: async (after) => {
      const { definitionMod } = (await readSeen(desk, [id])).schedules.get(id) ?? seen;
      if (definitionMod !== seen.definitionMod)
        throw new UsageError(`nothing was done: schedule ${quoted(id)} was written since it was opened`);
      return await run(
        call,
        world,
        desk,
        id,
        modifying([id], () => after),
      );
    },
  });
}

async function run(
  call: Call,
  world: Surroundings,
  desk: Desk,
  id: string,
  amendment: ReturnType<typeof modifying>,
): Promise<number> {
  const { code } = await new Amending(call, world, desk, {
    amendment,
    nothing: `schedule ${quoted(id)} is so already: nothing to change`,
    question: () => `Change schedule ${id}?`,
  }).run();
  return code;
}
