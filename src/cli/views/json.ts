import { decodeUtf8 } from "../../core/base/bytes.ts";
import type { JsonSchema } from "../../core/base/json-schema.ts";

/** A field of an object in JSON output: its schema, and its value in a source. Fields without a value are left out. */
interface JsonField<T> {
  schema: JsonSchema;
  /** The object, or the objects in a list, that the value contains. */
  part?: JsonObject<never>;
  getValue: (source: T) => unknown;
}

/** How an object is written as JSON, and what docs/json.md says about it. */
export interface JsonObject<T> {
  name: string;
  schema: JsonSchema;
  /** The objects that its fields contain. */
  parts: readonly JsonObject<never>[];
  toJson(source: T): Readonly<Record<string, unknown>>;
}

/** The name of a field of the source, or a function that returns the value. */
type ValueSource<T> = (keyof T & string) | ((source: T) => unknown);

/**
 * Describes an object in JSON output.
 * @param name  its name in the schema
 * @param fields  in the order of the output; optional if the name ends in `?`
 */
export function describeObject<T>(
  name: string,
  description: string,
  fields: DescribedFields<T>,
): JsonObject<T> {
  const named = Object.entries(fields).map(([key, field]) => ({ key: key.replace("?", ""), field }));
  return {
    name,
    schema: {
      type: "object",
      description,
      additionalProperties: false,
      required: Object.keys(fields).filter((key) => !key.endsWith("?")),
      properties: Object.fromEntries(named.map(({ key, field }) => [key, field.schema])),
    },
    parts: named.flatMap(({ field }) => field.part ?? []),
    toJson: (source) => {
      const json: Record<string, unknown> = {};
      for (const { key, field } of named) json[key] = field.getValue(source);
      return json;
    },
  };
}

// Descriptions of fields are short noun phrases.

/** Describes a field by a schema of its own. */
export function describeField<T>(schema: JsonSchema, from: ValueSource<T>): JsonField<T> {
  return { schema, getValue: typeof from === "string" ? (source) => source[from] : from };
}

export function describeText<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "string", description }, from);
}

export function describeTexts<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "array", items: { type: "string" }, description }, from);
}

/** Describes a field with a number of things. */
export function describeCount<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "integer", minimum: 0, description }, from);
}

export function describeInteger<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "integer", description }, from);
}

export function describeNumber<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "number", description }, from);
}

export function describeFlag<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "boolean", description }, from);
}

/** Describes a field with an instant. It has no minimum: the clock of another host may be wrong by any amount. */
export function describeInstant<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeNumber(`${description}; wall clock, ms since the epoch`, from);
}

/** Describes a field with a revision or a token, which is written as text. */
export function describeRevision<T>(description: string, from: ValueSource<T>): JsonField<T> {
  return describeField({ type: "string", pattern: "^[0-9]+$", description }, from);
}

/** @param description  a noun phrase; explanations of the values may follow after a full stop */
export function describeChoice<T>(
  values: readonly string[],
  description: string,
  from: ValueSource<T>,
): JsonField<T> {
  return describeField({ enum: values, description }, from);
}

/** Describes a field with an object. @param getPart  returns undefined if there is none */
export function describePart<T, P>(part: JsonObject<P>, getPart: (source: T) => P | undefined): JsonField<T> {
  const getValue = (source: T) => {
    const value = getPart(source);
    return value === undefined ? undefined : part.toJson(value);
  };
  return { schema: { $ref: `#/$defs/${part.name}` }, part, getValue };
}

/** The fields of an object by their names, which end in `?` if they are optional. */
export type DescribedFields<T> = Readonly<Record<string, JsonField<T>>>;

/** Describes fields of a part as those of the whole. Without the part, they have no value. */
export function describeFieldsOf<T, P>(
  getPart: (source: T) => P | undefined,
  fields: DescribedFields<NoInfer<P>>,
): DescribedFields<T> {
  const toWhole = (field: JsonField<P>): JsonField<T> => ({
    ...field,
    getValue: (source) => {
      const part = getPart(source);
      return part === undefined ? undefined : field.getValue(part);
    },
  });
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, toWhole(field)]));
}

/** Describes bytes as two fields, one of which is there: text if they are valid UTF-8, or else base64. */
export function describeBytes<T>(
  name: string,
  description: string,
  getBytes: (source: T) => string | undefined,
): Record<string, JsonField<T>> {
  const getBase64 = (bytes: string) => (decodeUtf8(bytes) === undefined ? btoa(bytes) : undefined);
  const apply = (convert: (bytes: string) => string | undefined) => (source: T) => {
    const bytes = getBytes(source);
    return bytes === undefined ? undefined : convert(bytes);
  };
  return {
    [`${name}?`]: describeText(description, apply(decodeUtf8)),
    [`${name}Base64?`]: describeText(`${description} in base64, if it is not valid UTF-8`, apply(getBase64)),
  };
}

/** Describes a field with a list of objects. */
export function describeParts<T, P>(
  part: JsonObject<P>,
  description: string,
  getParts: (source: T) => readonly P[] | undefined,
): JsonField<T> {
  const items = { $ref: `#/$defs/${part.name}` };
  const getValue = (source: T) => getParts(source)?.map((one) => part.toJson(one));
  return { schema: { type: "array", items, description }, part, getValue };
}
