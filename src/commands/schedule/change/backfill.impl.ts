import { EXIT, UsageError } from "../../../base/errors.ts";
import { buildBackfillCancellation, buildBackfillMutation } from "../../../operate/schedule-mutations.ts";
import { listBackfilled } from "../../../schedule/state/backfill.ts";
import type { DueState } from "../../../schedule/state/due.ts";
import { parseCountFlag } from "../../command-line/flags.ts";
import { formatInstantUtc, parseInstantFlag } from "../../command-line/instant.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { ActionImplementation, Call } from "../../spec.ts";
import { type CommandContext, createStoreCommand } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";
import { readSchedule, type ValidSchedule } from "../read-schedule.ts";

/** Time between two looks at a backfill, ms. */
const LOOK_EVERY = 1_000;

const change = createActionCommand(async (context) => {
  const { call } = context;
  const { id, definition } = await readSchedule(context, call.args[0] ?? "");
  const now = context.clock.getWallTime();
  const from = parseInstantFlag(call, "from", definition.timezone, now);
  if (call.flags.cancel && from !== undefined)
    throw new UsageError("--from and --cancel exclude each other; leave one of them out");
  if (from === undefined && !call.flags.cancel) throw new UsageError("--to and --parallel need --from");
  const to = parseInstantFlag(call, "to", definition.timezone, now) ?? now;
  const parallel = parseCountFlag(call, "parallel", 1) ?? 1;
  return await new AmendmentCommand(context, {
    amendment:
      from === undefined
        ? buildBackfillCancellation([id])
        : buildBackfillMutation(id, { from, to, parallel }),
    nothing: `no backfill of schedule ${id} is under way`,
    buildQuestion: () => (from === undefined ? `Cancel the backfill of ${id}?` : `Backfill schedule ${id}?`),
    buildFollowUp: ([one]) => (one?.due?.backfill === undefined ? [] : [formatProgress(one.due)]),
  }).run();
});

const show = createStoreCommand(async (call, io, context) => {
  for (let before: string | undefined; ; ) {
    const schedule = await readSchedule(context, call.args[0] ?? "");
    const line = describeProgress(call, schedule);
    if (line !== before) io.writeOutput(line);
    before = line;
    if (!call.flags.watch || !isUnderWay(schedule.due)) return EXIT.ok;
    await waitForLook(context);
  }
});

/** Starts, cancels or shows a backfill. */
export const backfillSchedule: ActionImplementation = {
  perform: change.perform,
  execute: async (call, io) => {
    const { flags } = call;
    const isChange = [flags.from, flags.to, flags.parallel, flags.cancel].some((one) => one !== undefined);
    if (!isChange) return await show(call, io);
    const code = await change.execute(call, io);
    return code === EXIT.ok && flags.watch && !flags["dry-run"] ? await show(call, io) : code;
  },
};

function describeProgress(call: Call, { id, due }: ValidSchedule): string {
  if (call.flags.json) {
    const open = listBackfilled(due?.open ?? []);
    const document = { id, backfill: due?.backfill ?? null, open };
    return call.flags.watch ? `${JSON.stringify(document)}\n` : formatJsonDocument(document);
  }
  return isUnderWay(due) && due !== undefined
    ? `schedule ${id}: ${formatProgress(due)}\n`
    : `no backfill of schedule ${id} is under way\n`;
}

function isUnderWay(due: DueState | undefined): boolean {
  return due !== undefined && (due.backfill !== undefined || listBackfilled(due.open).length > 0);
}

/** Formats the progress: `12 of 30 started, 2 not finished, next 2026-11-21 03:00:00 UTC`. */
function formatProgress({ backfill, open }: DueState): string {
  const waiting = `${listBackfilled(open).length} not finished`;
  if (backfill === undefined) return `all started, ${waiting}`;
  const { started, total, next } = backfill;
  return `${started} of ${total} started, ${waiting}, next ${formatInstantUtc(next)}`;
}

async function waitForLook({ clock, signal }: CommandContext): Promise<void> {
  await clock.sleep(LOOK_EVERY, signal);
}
