import { createActionCommand } from "../../outcome/action-command.ts";
import { parseAddArguments, parseOnceArguments } from "./add-arguments.ts";
import { addSchedule } from "./add-schedule.ts";

export const { execute, perform } = createActionCommand((context) =>
  addSchedule(context, parseAddArguments(context.call)),
);

export const scheduleOnce = createActionCommand((context) =>
  addSchedule(context, parseOnceArguments(context)),
);
