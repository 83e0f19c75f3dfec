import { createClusterStore } from "./cluster/cluster-store.ts";
import { ClusterPin, pinMember } from "./cluster/pinned-member.ts";
import { DEFAULT_TIMEOUTS, Failover } from "./failover.ts";
import type { Member } from "./member.ts";
import {
  type CheckedOptions,
  checkStoreOptions,
  chooseTransport,
  type StoreOptions,
  type StorePorts,
} from "./options.ts";
import type { Store } from "./store.ts";
import { type ByteCodec, WireCodec } from "./wire-codec.ts";

/** The exports of a transport's module. The module is loaded only when its transport is chosen. */
interface Transport<B> {
  bytes: ByteCodec<B>;
  openMembers(options: CheckedOptions): Promise<Member[]>;
}

/**
 * Opens a store over etcd. It connects with the first call, so an unreachable etcd causes no error here.
 * @throws ConfigError when the options contradict each other, or the file that remembers the cluster is damaged
 */
export async function openStore(options: StoreOptions, ports: StorePorts): Promise<Store> {
  const checked = checkStoreOptions(options);
  const canUseHttp = options.prefersGrpc && chooseTransport({ ...options, prefersGrpc: false }) === "http";
  if (canUseHttp && !(await canLoadGrpc())) return openStore({ ...options, prefersGrpc: false }, ports);
  return checked.transport === "grpc"
    ? await assembleStore(await import("./grpc/transport.ts"), checked, ports)
    : await assembleStore(await import("./http/transport.ts"), checked, ports);
}

/** Whether the optional packages of gRPC are installed. */
async function canLoadGrpc(): Promise<boolean> {
  const { loadPackages } = await import("./grpc/transport.ts");
  return loadPackages().then(
    () => true,
    () => false,
  );
}

async function assembleStore<B>(
  transport: Transport<B>,
  options: CheckedOptions,
  ports: StorePorts,
): Promise<Store> {
  const pin = new ClusterPin(options.clusterId, options.clusterMemory);
  const members = (await transport.openMembers(options)).map((member) => pinMember(member, pin));
  const first = Math.floor((ports.random?.generateFraction() ?? 0) * members.length);
  const failover = new Failover(members, ports.clock, { ...DEFAULT_TIMEOUTS, ...options.timeouts }, first);
  const wire = new WireCodec(transport.bytes);
  if (options.password === undefined && options.sharesWatches && options.transport === "http") {
    const { SharedWatches } = await import("./cluster/shared-watches.ts");
    const watches = new SharedWatches(ports.clock, failover.timeouts.probe);
    return createClusterStore(failover, wire, undefined, watches);
  }
  if (options.password === undefined) return createClusterStore(failover, wire);
  const { shareLogin } = await import("./login.ts");
  const share = shareLogin(options, () => ports.random?.generateFraction() ?? 0.5);
  return createClusterStore(failover, wire, share);
}
