import { findSchemaFault } from "../check/schema.ts";
import type { CommandExecutor } from "./spec.ts";
import { type CommandContext, createStoreCommand, type StoreWork } from "./store-command.ts";

/** Creates a command that shows what etcd contains. It warns if newer programs may have written more than it knows. */
export function createReadCommand(work: StoreWork): CommandExecutor {
  return createStoreCommand(async (call, io, context) => {
    const [exitCode] = await Promise.all([work(call, io, context), warnOfNewerSchema(context)]);
    return exitCode;
  });
}

/** Never rejects: what prevents this read prevents the command too, and is reported there. */
async function warnOfNewerSchema(context: CommandContext): Promise<void> {
  const fault = await findSchemaFault(context, context.signal).catch(() => undefined);
  if (fault !== undefined) context.printMessage(`this may be incomplete: ${fault}`);
}
