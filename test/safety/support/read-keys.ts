/** What etcd has stored, for tests. */
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { type AuditRecord, parseAuditRecord } from "../../../src/core/protocol/audit.ts";
import { type Drain, parseDrain } from "../../../src/core/protocol/drain.ts";
import { parseDefinition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";

export async function readDefinition(namespace: TestNamespace, id: string) {
  const parsed = parseDefinition((await namespace.readValue(namespace.keys.schedule(id))) ?? "");
  return "value" in parsed ? parsed.value : undefined;
}

/** The state of a schedule, or of one that runs on every host, for a host. */
export async function readDue(namespace: TestNamespace, id: string, host?: string) {
  const parsed = parseDue((await namespace.readValue(namespace.keys.due(id, host))) ?? "");
  return "value" in parsed ? parsed.value : undefined;
}

/** What operators keep of a schedule, and where it is. */
export async function readSchedule(namespace: TestNamespace, id: string) {
  return { definition: await readDefinition(namespace, id), due: await readDue(namespace, id) };
}

/** The records of the audit, oldest first. */
export async function readAudits({ store, keys }: TestNamespace): Promise<(AuditRecord | undefined)[]> {
  return (await store.readRange(keys.audits())).kvs.map(({ value }) => parseAuditRecord("", value));
}

/** The records of the audit, oldest first, as `action | target | reason | outcome`, or with some of these fields. */
export async function listAudits(
  namespace: TestNamespace,
  fields: readonly ("action" | "target" | "reason" | "outcome")[] = ["action", "target", "reason", "outcome"],
): Promise<string[]> {
  const format = (record?: AuditRecord) => fields.flatMap((field) => record?.[field] ?? []).join(" | ");
  return (await readAudits(namespace)).map(format);
}

export async function listDrains({ store, keys }: TestNamespace): Promise<Drain[]> {
  return (await store.readRange(keys.drains())).kvs.flatMap((kv) => parseDrain(keys, kv) ?? []);
}
