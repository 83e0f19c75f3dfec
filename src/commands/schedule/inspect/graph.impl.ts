import { clean, quoteText } from "../../../base/text.ts";
import { readAllStoredSchedules, type StoredSchedule } from "../../../operate/stored-schedules.ts";
import { validateName } from "../../../protocol/names.ts";
import { type ChainGraph, listConnected } from "../../../schedule/chain-graph.ts";
import { SCHEDULE_DEFAULTS } from "../../../schedule/definition-values.ts";
import { NotFoundError } from "../../../schedule/errors.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";

export const execute = createReadCommand(async (call, io, context) => {
  const { revision, schedules } = await readAllStoredSchedules(context, context.signal);
  const graph: ChainGraph = new Map(
    [...schedules].map(([id, { definition }]) => [id, definition?.after ?? []]),
  );
  const ids = selectIds(graph, call.args[0]);
  if (call.flags.json) {
    const rows = ids.map((id) => toRowJson(schedules.get(id), id));
    io.writeOutput(formatJsonDocument({ revision, rows }));
    return;
  }
  const lines = renderChains(graph, new Set(ids), (id) => describeSchedule(schedules.get(id), id));
  io.writeOutput(lines.length === 0 ? "no schedule follows another\n" : `${lines.join("\n")}\n`);
});

/** Returns the ids of all schedules in chains, or of those in the chains of one schedule, sorted. */
function selectIds(graph: ChainGraph, key: string | undefined): string[] {
  if (key === undefined) {
    const followed = new Set([...graph.values()].flat());
    return [...graph.keys()].filter((id) => followed.has(id) || (graph.get(id)?.length ?? 0) > 0).sort();
  }
  const id = validateName("schedule", key);
  if (!graph.has(id))
    throw new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox schedule list`);
  return [...listConnected(graph, id)].sort();
}

/** Renders a tree below each schedule that follows none of the others. What follows a schedule is rendered once. */
function renderChains(
  graph: ChainGraph,
  ids: ReadonlySet<string>,
  describe: (id: string) => string,
): string[] {
  const rendered = new Set<string>();
  const renderBelow = (id: string, indent: string): string[] => {
    const next = [...ids].filter((one) => graph.get(one)?.includes(id));
    if (rendered.has(id)) return next.length === 0 ? [] : [`${indent}\`- … as above`];
    rendered.add(id);
    return next.flatMap((one, at) => {
      const isLast = at === next.length - 1;
      const line = `${indent}${isLast ? "`- " : "|- "}${describe(one)}`;
      return [line, ...renderBelow(one, `${indent}${isLast ? "   " : "|  "}`)];
    });
  };
  const roots = [...ids].filter((id) => graph.get(id)?.some((one) => ids.has(one)) !== true);
  return roots.flatMap((id) => [describe(id), ...renderBelow(id, "")]);
}

function describeSchedule(stored: StoredSchedule | undefined, id: string): string {
  const { definition, due } = stored ?? {};
  const { after = [], on = SCHEDULE_DEFAULTS.on } = definition ?? {};
  const condition = after.length === 0 ? "" : ` (on ${on}${after.length > 1 ? ` of ${after.length}` : ""})`;
  const last = due?.last === undefined ? "" : `: ${due.last.result}`;
  return clean(`${id}${condition}${last}`);
}

function toRowJson(stored: StoredSchedule | undefined, id: string): object {
  const { definition, due } = stored ?? {};
  return {
    id,
    after: definition?.after ?? [],
    on: definition?.after && (definition.on ?? SCHEDULE_DEFAULTS.on),
    successors: due?.successors ?? [],
    arrived: due?.arrived ?? [],
    last: due?.last ?? null,
  };
}
