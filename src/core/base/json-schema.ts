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
