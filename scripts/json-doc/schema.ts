/** The subset of JSON Schema (2020-12) that the documents need. */
export interface JsonSchema {
  type?: string | readonly string[];
  description?: string;
  const?: string | number | boolean;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  /** False: no other properties. */
  additionalProperties?: false | JsonSchema;
  items?: JsonSchema;
  /** `#/$defs/NAME`. */
  $ref?: string;
  oneOf?: readonly JsonSchema[];
}

export interface RootSchema extends JsonSchema {
  $schema: string;
  title: string;
  $defs: Readonly<Record<string, JsonSchema>>;
}

// Helpers for properties. Descriptions are short noun phrases.

export const createTextSchema = (description: string): JsonSchema => ({ type: "string", description });
export const createTextsSchema = (description: string): JsonSchema => ({
  type: "array",
  items: { type: "string" },
  description,
});
export const createCountSchema = (description: string): JsonSchema => ({
  type: "integer",
  minimum: 0,
  description,
});
export const createNumberSchema = (description: string): JsonSchema => ({ type: "number", description });
/** No minimum: the clock of another host may be wrong by any amount. */
export const createWallSchema = (description: string): JsonSchema =>
  createNumberSchema(`${description}; wall clock, ms since the epoch`);
export const createRevisionSchema = (description: string): JsonSchema => ({
  type: "string",
  pattern: "^[0-9]+$",
  description,
});
/** @param description  a noun phrase; explanations of the values may follow after a full stop */
export const createChoiceSchema = (values: readonly string[], description: string): JsonSchema => ({
  enum: values,
  description,
});
export const createRefSchema = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });
export const createListSchema = (name: string, description: string): JsonSchema => ({
  type: "array",
  items: createRefSchema(name),
  description,
});

/** @param properties  optional if the name ends in `?` */
export function createObjectSchema(description: string, properties: Record<string, JsonSchema>): JsonSchema {
  const names = Object.keys(properties);
  return {
    type: "object",
    description,
    additionalProperties: false,
    required: names.filter((name) => !name.endsWith("?")),
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), properties[name] ?? {}])),
  };
}
