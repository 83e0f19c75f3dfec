import { type AuditRecord, parseAuditRecord } from "../../protocol/audit.ts";
import { type ObserverPorts, readWithRetries } from "../observe/ports.ts";

/** Number of records to read, newest first. */
const MAX_RECORDS = 50;

/**
 * Returns the changes of the configuration after a revision, newest first, as far as the last audit records show them.
 */
export async function readConfigAudit(ports: ObserverPorts, since: bigint): Promise<AuditRecord[]> {
  const range = {
    ...ports.keys.audits(),
    sort: { by: "mod", order: "descend" } as const,
    limit: MAX_RECORDS,
  };
  const { kvs } = await readWithRetries(ports, range);
  return kvs.flatMap(({ key, value, modRevision }) => {
    const parsed = ports.keys.parse(key);
    const record =
      parsed.kind === "audit" && modRevision > since ? parseAuditRecord(parsed.name, value) : undefined;
    return record !== undefined && CONFIG_ACTIONS.has(record.action) ? [record] : [];
  });
}

const CONFIG_ACTIONS: ReadonlySet<string> = new Set(["group", "resource", "import", "edit"]);
