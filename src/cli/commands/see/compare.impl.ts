import { formatInstant } from "../../../core/base/clock.ts";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { clean } from "../../../core/base/text.ts";
import { isTooOld } from "../../../site/observe/past-revision.ts";
import { type PastTarget, parsePastTarget } from "../../frame/command-line/past-target.ts";
import { printResult } from "../../frame/json-output.ts";
import { findPastMoment, PastRefusal, readPastSnapshot } from "../../frame/past-moment.ts";
import { createReadCommand } from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { formatEventText } from "../../views/event.ts";
import type { CompareFlags } from "./compare.ts";
import { type ComparedTable, compareStates, type PastState } from "./comparison.ts";
import { renderGridLines } from "./grid.ts";
import { detectOutputStyle, type OutputStyle } from "./paint.ts";

/** @throws UsageError for what is no time; SignalboxError 1 if etcd has compacted a state; StoreError */
export const compareTimes = createReadCommand<CompareFlags>(async (context) => {
  const [first = "", second = "now"] = context.args;
  const targets = [first, second].map((text) => parseTarget(context, text));
  const states: PastState[] = [];
  for (const target of targets) states.push(await readState(context, target));
  const [before, after] = states as [PastState, PastState];
  if (before.moment.revision > after.moment.revision)
    throw new UsageError(`the first time must be the earlier one; got ${first} and ${second}`);
  const { only } = context.flags;
  const { tables, events } = compareStates(before, after, only && [only]);
  const document = {
    before: toMomentJson(before),
    after: toMomentJson(after),
    rows: tables.flatMap(listDifferences),
    events: events.map((event) => ({ at: event.at, kind: event.kind, text: formatEventText(event) })),
  };
  printResult(context, document, () => {
    const style = detectOutputStyle(context.io);
    const lines = [
      `- ${formatState(before)}`,
      `+ ${formatState(after)}`,
      ...tables.flatMap((table) => formatTable(table, after, style)),
      ...(events.length === 0 ? [] : ["", "between"]),
      ...events.map((event) => `  ${formatInstant(event.at)}  ${clean(formatEventText(event))}`),
    ];
    return `${lines.join("\n")}\n`;
  });
});

function parseTarget(context: CommandContext, text: string): PastTarget {
  const target = parsePastTarget(text, context.clock.getWallTime());
  if ("fault" in target) throw new UsageError(target.fault);
  return target;
}

async function readState(context: CommandContext, target: PastTarget): Promise<PastState> {
  try {
    const moment = await findPastMoment(context, target, context.signal);
    return { moment, snapshot: await readPastSnapshot(context, moment, context.signal) };
  } catch (error) {
    if (error instanceof PastRefusal) throw new SignalboxError(EXIT.undone, error.message, { cause: error });
    if (!isTooOld(error)) throw error;
    throw new SignalboxError(
      EXIT.undone,
      "etcd has compacted this state; signalbox ls history and ls audit reach further",
      {
        cause: error,
      },
    );
  }
}

function toMomentJson({ moment: { at, revision } }: PastState) {
  return { at, revision };
}

function formatState({ moment: { at, revision } }: PastState): string {
  return `${formatInstant(at)}, revision ${revision}`;
}

function listDifferences({ listing, view, rows }: ComparedTable) {
  return rows.flatMap(({ key, before, after, change }) =>
    change === "same"
      ? []
      : [
          {
            listing,
            key,
            change,
            ...(before !== undefined && { before: view.json.toJson(before) }),
            ...(after !== undefined && { after: view.json.toJson(after) }),
          },
        ],
  );
}

function formatTable(
  { listing, columns, rows }: ComparedTable,
  { moment }: PastState,
  style: OutputStyle,
): string[] {
  const marked = rows.flatMap(({ before, after, change }) =>
    change === "same"
      ? []
      : [
          ...(before === undefined ? [] : [{ mark: "-", row: before }]),
          ...(after === undefined ? [] : [{ mark: "+", row: after }]),
        ],
  );
  if (marked.length === 0) return [];
  const table = {
    columns: columns.map(({ below: _, ...column }) => column),
    rows: marked.map(({ row }) => row),
    wall: moment.at,
  };
  const [head = "", ...lines] = renderGridLines(table, {
    ...style,
    ...(style.width && { width: style.width - 2 }),
  });
  return ["", listing, `  ${head}`, ...lines.map((line, at) => `${marked[at]?.mark} ${line}`)];
}
