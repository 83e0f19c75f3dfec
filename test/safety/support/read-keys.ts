/** What etcd has stored, for tests. */
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { parseDefinition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";

/** @returns an empty text if there is no such key */
export async function readValue({ store }: TestNamespace, key: string): Promise<string> {
  return (await store.readRange({ key })).kvs[0]?.value ?? "";
}

/** What operators keep of a schedule, and where it is. */
export async function readSchedule(namespace: TestNamespace, id: string) {
  const definition = parseDefinition(await readValue(namespace, namespace.keys.schedule(id)));
  const due = parseDue(await readValue(namespace, namespace.keys.due(id)));
  return {
    definition: "value" in definition ? definition.value : undefined,
    due: "value" in due ? due.value : undefined,
  };
}
