import { EXIT, UsageError } from "../../../core/base/errors.ts";
import { clean, quoteText } from "../../../core/base/text.ts";
import { isHolding } from "../../../core/protocol/admission.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { findNamedQueue } from "../../../site/state/snapshot.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { printResult } from "../../frame/json-output.ts";
import { readSnapshotRanges } from "../../frame/read-snapshot.ts";
import { createStoreCommand } from "../../frame/store-command.ts";
import { formatTicketOwner } from "../../views/claims.ts";

export const compareToken = createStoreCommand<JsonFlags>(async (context) => {
  const [name = "", token = ""] = context.args;
  const lock = validateName("lock", name);
  if (!/^[1-9]\d{0,18}$/.test(token))
    throw new UsageError(`TOKEN must be a number, as in SIGNALBOX_TOKEN; got ${quoteText(token)}`);
  const snapshot = await readSnapshotRanges(context, [], [context.keys.getQueueRange("lock", lock)]);
  const holders = findNamedQueue(snapshot, "lock", lock)?.entries.filter(isHolding) ?? [];
  const own = holders.find(({ createRevision }) => String(createRevision) === token);
  const isCurrent = own !== undefined;
  const holder = own ?? holders.at(-1);
  const newest = holder && String(holder.createRevision);
  const says = isCurrent
    ? "holds it"
    : `does not hold it: ${newest === undefined ? "nobody does" : `token ${newest} does`}`;
  const who = holder && clean(formatTicketOwner(holder));
  const document = { lock, token, isCurrent, holder: newest && { token: newest, who } };
  const owner = who === undefined ? "" : ` (${who})`;
  printResult(context, document, () => `lock ${lock}: token ${token} ${says}${owner}\n`);
  return isCurrent ? EXIT.ok : EXIT.undone;
});
