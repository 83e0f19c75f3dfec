import { quoteText } from "../../base/text.ts";
import { validateName } from "../../protocol/names.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import {
  buildCalendar,
  changeCalendar,
  chooseNote,
  requireReadableCalendar,
} from "./calendar/change-calendar.ts";

export const addDays = createActionCommand(async (context) => {
  const { args, flags } = context.call;
  const [given = "", ...words] = args;
  const name = validateName("calendar", given);
  const days = words.flatMap((word) => word.split(",").map((day) => day.trim()));
  buildCalendar(days, undefined); // check them before anything is read
  return await changeCalendar(context, {
    name,
    decide: (stored) => {
      if (flags.replace === true) {
        const old = stored !== undefined && "value" in stored ? stored.value : undefined;
        return buildCalendar(days, chooseNote(context, old));
      }
      const before = requireReadableCalendar(name, stored);
      return buildCalendar([...(before?.days ?? []), ...days], chooseNote(context, before));
    },
  });
});

export const deleteCalendar = createActionCommand(async (context) => {
  const name = validateName("calendar", context.call.args[0] ?? "");
  return await changeCalendar(context, {
    name,
    decide: (before) => {
      if (before !== undefined) return undefined;
      throw new NotFoundError(`there is no calendar ${quoteText(name)}; see: signalbox calendar list`);
    },
  });
});
