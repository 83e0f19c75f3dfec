import { EXIT_CODES } from "./exit-codes.ts";
import { section } from "./help.ts";
import { type Command, TOPICS } from "./spec.ts";
import { json } from "./table.ts";

const TITLE = "signalbox: distributed locks and fair resource leases over etcd, for jobs on many hosts";
const MORE =
  "signalbox COMMAND --help says more about a command; signalbox help exit-codes, what codes mean.";

/** Help of the whole program: commands under what they are for. */
export function overview(commands: readonly Command[], columns: number): string {
  return [
    ...[TITLE, "", "Usage: signalbox COMMAND [options] [arguments]"],
    ...TOPICS.flatMap((topic) => listing(topic, commands, ({ topic: one }) => one === topic, columns)),
    "",
    "Put the same line into the crontab of several hosts; one of them runs it:",
    "  * * * * *  signalbox run --lock invoices -- ./invoices.sh",
    ...["", ...section("More", [], columns), MORE_LINES],
    "",
  ].join("\n");
}
