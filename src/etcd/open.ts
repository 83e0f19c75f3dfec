import { ClusterStore } from "./cluster-store.ts";
import { Credentials } from "./credentials.ts";
import { DEFAULT_TIMEOUTS, Failover } from "./failover.ts";
import type { Member } from "./member.ts";
import { type CheckedOptions, checkOptions, type StoreOptions, type StorePorts } from "./options.ts";
import type { Store } from "./store.ts";
import { type ByteCodec, Wire } from "./wire.ts";

export { chosenTransport, type StoreOptions, type StorePorts, type TlsOptions } from "./options.ts";

/** What a transport's module offers; both are loaded only when chosen. */
export interface Transport<B> {
  bytes: ByteCodec<B>;
  openMembers(options: CheckedOptions, credentials: Credentials | undefined): Promise<Member[]>;
}

/**
 * A store over etcd. Connects with the first call, so an etcd that is away is not noticed here.
 * @throws ConfigError when the options contradict each other
 */
export async function openStore(options: StoreOptions, ports: StorePorts): Promise<Store> {
  const checked = checkOptions(options);
  return checked.transport === "grpc"
    ? await assemble(await import("./grpc/transport.ts"), checked, ports)
    : await assemble(await import("./http/transport.ts"), checked, ports);
}

async function assemble<B>(
  transport: Transport<B>,
  options: CheckedOptions,
  ports: StorePorts,
): Promise<Store> {
  const { user, password } = options;
  const credentials =
    user === undefined || password === undefined ? undefined : new Credentials(user, password);
  const members = await transport.openMembers(options, credentials);
  const first = Math.floor((ports.unit?.() ?? 0) * members.length);
  const failover = new Failover(members, ports.clock, { ...DEFAULT_TIMEOUTS, ...options.timeouts }, first);
  return new ClusterStore(failover, new Wire(transport.bytes));
}
