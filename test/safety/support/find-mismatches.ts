/** A validator for the subset of JSON Schema that docs/ls.schema.json uses. */
import type { RootSchema } from "../../../scripts/json-doc.ts";
import type { JsonSchema } from "../../../src/core/base/json-schema.ts";

/** Lists the mismatches of a document, each with its path. */
export function findMismatches(root: RootSchema, schema: JsonSchema, value: unknown, path = "$"): string[] {
  if (schema.$ref !== undefined)
    return findMismatches(root, resolveReference(root, schema.$ref), value, path);
  const buildMismatch = (what: string) => [`${path}: ${JSON.stringify(value)?.slice(0, 80)} ${what}`];
  if (schema.oneOf !== undefined) {
    const fitting = schema.oneOf.filter((one) => findMismatches(root, one, value, path).length === 0);
    return fitting.length === 1 ? [] : buildMismatch(`fits ${fitting.length} of ${schema.oneOf.length}`);
  }
  if (schema.const !== undefined && value !== schema.const) return buildMismatch(`is not ${schema.const}`);
  if (schema.enum !== undefined && !schema.enum.some((one) => one === value))
    return buildMismatch(`is none of ${schema.enum}`);
  if (schema.type !== undefined && ![schema.type].flat().some((type) => hasType(value, type)))
    return buildMismatch(`is no ${schema.type}`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value)))
    return buildMismatch(`does not match ${schema.pattern}`);
  if (schema.minimum !== undefined && Number(value) < schema.minimum)
    return buildMismatch(`is under ${schema.minimum}`);
  if (Array.isArray(value))
    return value.flatMap((one, at) => findMismatches(root, schema.items ?? {}, one, `${path}[${at}]`));
  return isRecord(value) ? findFieldMismatches(root, schema, value, path) : [];
}

function findFieldMismatches(
  root: RootSchema,
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: string,
): string[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const known = properties[name] ?? additionalProperties;
    if (known === false) return [`${path}.${name}: nobody knows it`];
    return known === undefined ? [] : findMismatches(root, known, field, `${path}.${name}`);
  });
  return [...missing.map((name) => `${path}.${name}: it is missing`), ...fields];
}

export function resolveReference(root: RootSchema, reference: string): JsonSchema {
  const schema = root.$defs[reference.slice("#/$defs/".length)];
  if (schema === undefined) throw new Error(`there is no ${reference}`);
  return schema;
}

function hasType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "null") return value === null;
  return typeof value === type;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
