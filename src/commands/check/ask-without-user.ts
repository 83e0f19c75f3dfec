import type { AuthenticationMode } from "../../check/authentication.ts";
import type { TransportName } from "../../check/transport.ts";
import { openStore } from "../../etcd/open/open.ts";
import { buildStoreOptions } from "../../etcd/open/store-options.ts";
import { StoreError } from "../../etcd/store.ts";
import type { CommandContext } from "../store-command.ts";

/**
 * Reads a key from etcd without a user name, to test whether etcd requires authentication. Over gRPC, etcd may take the
 * user from a client certificate; over HTTP it never does.
 * @returns undefined if the answer does not say
 */
export async function askWithoutUser(
  context: CommandContext,
  transport: TransportName,
): Promise<AuthenticationMode | undefined> {
  const { user: _, password: __, ...options } = buildStoreOptions(context.settings);
  const hasCertificate = options.tls?.cert !== undefined;
  const own = { ...options, transport: hasCertificate ? ("http" as const) : transport };
  const store = await openStore(own, { clock: context.clock, unit: context.random.generateFraction });
  try {
    await store.readRange({ key: context.keys.prefix, limit: 1, keysOnly: true }, context.signal);
    return hasCertificate ? "certificate" : "open";
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isAsked = error.kind === "unauthenticated" || error.kind === "permission";
    return isAsked ? "closed" : undefined;
  } finally {
    store.close();
  }
}
