import { validateName } from "../../../protocol/names.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import type { CommandContext } from "../../store-command.ts";
import { renderDetailText } from "../detail.ts";
import { detectOutputStyle } from "../paint.ts";
import { showGroup, showHost } from "./show-host.ts";
import type { DetailDocument } from "./show-json.ts";
import { showQueue } from "./show-queue.ts";
import { showRun } from "./show-run.ts";
import { showSchedule } from "./show-schedule.ts";

export const execute = createReadCommand(async ({ args: [kind = "", name = ""], flags }, io, context) => {
  const { revision, detail, document } = await readDetail(context, kind, name);
  const style = detectOutputStyle(io, { ascii: false, wide: false });
  if (flags.json) io.writeOutput(formatJsonDocument({ revision, kind, ...document }));
  else io.writeOutput(`${renderDetailText(detail, style).join("\n")}\n`);
});

function readDetail(context: CommandContext, kind: string, name: string): Promise<DetailDocument> {
  if (kind === "lock" || kind === "resource") return showQueue(context, kind, validateName(kind, name));
  if (kind === "host") return showHost(context, name);
  if (kind === "schedule") return showSchedule(context, validateName(kind, name));
  if (kind === "group") return showGroup(context, name);
  return showRun(context, name);
}
