import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { parseResourceConfig } from "../../fleet/resources.ts";
import { commitWithRetries } from "../../observe/ports.ts";
import { findFirstKey } from "../../protocol/txn.ts";
import type { CommandContext } from "../store-command.ts";
import { parsePlainLeases } from "./command-words.ts";

/**
 * Checks that leases fit the configured totals of their resources. Amounts and totals with macros are not checked, nor
 * those that the user's role must not read.
 * @throws UsageError
 */
export async function checkConfiguredTotals(
  context: CommandContext,
  leases: readonly string[] = [],
): Promise<void> {
  const plain = parsePlainLeases(leases);
  if (plain.length === 0) return;
  const success = plain.map(
    ({ resource }) => ({ op: "range", key: context.keys.resourceConfig(resource) }) as const,
  );
  const txn = { compare: [], success, failure: [] };
  const answer = await commitWithRetries(context, txn, context.signal).catch(() => undefined);
  for (const [index, { resource, count }] of plain.entries()) {
    const kv = findFirstKey(answer?.results[index]);
    if (kv === undefined) continue;
    const config = parseResourceConfig(kv.value);
    const total = "value" in config ? Number(config.value.total) : Number.NaN;
    if (count > total)
      throw new UsageError(
        `--lease: ${count} units of resource ${quoteText(resource)} are requested, but there are only ${total}; ask for fewer, or change the total: signalbox resource set`,
      );
  }
}
