import { type AuditRecord, auditOf } from "../../protocol/audit.ts";
import { type ObserverPorts, patiently } from "../observe/ports.ts";

/** Records that are looked through, newest first. */
const LAST = 50;

/** Who has changed the configuration after a revision, newest first, as far as the last records of the audit tell. */
export async function configurers(ports: ObserverPorts, since: bigint): Promise<AuditRecord[]> {
  const range = {
    ...ports.keys.audits(),
    ...{ sort: { by: "mod", order: "descend" } as const, limit: LAST },
  };
  const { kvs } = await patiently(ports, (signal) => ports.store.range(range, signal));
  return kvs.flatMap(({ key, value, modRevision }) => {
    const parsed = ports.keys.parse(key);
    const record = parsed.kind === "audit" && modRevision > since ? auditOf(parsed.name, value) : undefined;
    return record !== undefined && CONFIGURING.has(record.action) ? [record] : [];
  });
}

const CONFIGURING: ReadonlySet<string> = new Set(["group", "resource", "import", "edit"]);
