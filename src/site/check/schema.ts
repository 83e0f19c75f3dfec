import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";
import {
  describeNewerSchema,
  getNewerSchemaRange,
  SCHEMA_REMEDY,
  SCHEMA_VERSION,
} from "../../core/protocol/schema.ts";
import { type ObserverPorts, readWithRetries } from "../observe/ports.ts";
import type { CheckPorts } from "./ports.ts";

/** Returns why this program may not write under its prefix; undefined if it may. @throws StoreError */
export async function findSchemaFault(
  ports: ObserverPorts,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { kvs } = await readWithRetries(
    ports,
    { ...getNewerSchemaRange(ports.keys), keysOnly: true },
    signal,
  );
  return describeNewerSchema(
    ports.keys,
    kvs.map(({ key }) => key),
  );
}

/** Reports whether this program is new enough to write. */
export async function judgeSchema(ports: CheckPorts): Promise<Finding> {
  const about = createFindingBuilder("schema", "schema version");
  const fault = await findSchemaFault(ports, ports.signal);
  return fault === undefined
    ? about.ok(`${SCHEMA_VERSION}, and no later one is required`)
    : about.failure(fault, SCHEMA_REMEDY);
}
