import type { Finding } from "../../base/finding.ts";
import { isCompacted } from "../../etcd/retry.ts";
import { StoreError } from "../../etcd/store.ts";
import { readWithRetries } from "../observe/ports.ts";
import type { AnsweringMember } from "./members.ts";
import type { CheckPorts } from "./ports.ts";
import { formatBytes, type Quota } from "./space.ts";

/** From this revision on, an etcd that is compacted at all has been compacted. */
const LEAST_REVISION = 100_000n;

/**
 * Checks whether etcd's past states are ever removed. A default etcd keeps them all, and its database fills up. The settings of a
 * member cannot be read, but a read of the first revision shows it.
 */
export async function judgeCompaction(
  ports: CheckPorts,
  answers: readonly AnsweringMember[],
  getQuota: (endpoint: string) => Quota,
): Promise<Finding[]> {
  const [answer] = [...answers].sort((a, b) => b.dbSize - a.dbSize);
  if (answer === undefined || answer.revision < LEAST_REVISION) return [];
  const about = { kind: "compaction", check: "compaction" };
  try {
    const first = { key: ports.keys.prefix, limit: 1, keysOnly: true, revision: 1n };
    await readWithRetries(ports, first, ports.signal);
  } catch (error) {
    if (isCompacted(error)) return [{ ...about, level: "ok", detail: "past states are removed" }];
    if (error instanceof StoreError) return []; // reported with the permissions
    throw error;
  }
  const { bytes } = getQuota(answer.endpoint);
  const left = Math.max(0, bytes - answer.dbSize) / (answer.dbSize / Number(answer.revision));
  return [
    {
      ...about,
      level: "warning",
      detail:
        `nobody has ever compacted this etcd: all its ${answer.revision} changes stay in the database (${formatBytes(answer.dbSize)}). ` +
        `It is full after about ${Math.round(left)} more`,
      remedy:
        "start the members with --auto-compaction-retention=1h; then etcdctl defrag, on one member after the other",
    },
  ];
}
