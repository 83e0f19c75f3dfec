import { ConfigError, UsageError } from "../../../base/errors.ts";
import { validateName } from "../../../protocol/names.ts";
import { parseCalendarEntry, toDay } from "../../../schedule/calendar/calendar-day.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { readDocumentText } from "../../configure/documents.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { ActionContext } from "../../store-command.ts";
import { buildCalendar, changeCalendar, chooseNote } from "./change-calendar.ts";

/** Years for which events that repeat are added, beside the current one. */
const YEARS = 5;

export const { execute, perform } = createActionCommand(async (context) => {
  const [given = "", file = "-"] = context.call.args;
  const name = validateName("calendar", given);
  const span = parseSpan(context);
  const text = await readDocumentText(context.io, file);
  // `import` here, so that no other command loads the package.
  const { readICalendarDays } = await import("../read-icalendar.ts");
  const days = readICalendarDays(text, span);
  if (days.length === 0) throw new ConfigError(`${file} has no events`);
  return await changeCalendar(context, {
    name,
    decide: (before) => {
      const old = before !== undefined && "value" in before ? before.value : undefined;
      return buildCalendar(days, chooseNote(context, old));
    },
  });
});

/** Returns the days for which events that repeat are added. Whole years, so that a second import changes nothing. */
function parseSpan({ call, clock }: ActionContext): { from: number; until: number } {
  const year = new Date(clock.getWallTime()).getUTCFullYear();
  const from = toDay(Date.UTC(year, 0));
  const until = getTextFlag(call, "until");
  if (until === undefined) return { from, until: toDay(Date.UTC(year + YEARS + 1, 0)) - 1 };
  const parsed = parseCalendarEntry(until);
  if ("fault" in parsed || parsed.value.kind !== "range" || parsed.value.from !== parsed.value.until)
    throw new UsageError(`--until must be a date such as 2030-12-31; got ${JSON.stringify(until)}`);
  return { from, until: parsed.value.until };
}
