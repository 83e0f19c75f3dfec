import { validateHeaderName, validateHeaderValue } from "node:http";
import * as v from "valibot";
import { isJsonObject } from "../../core/base/parse-json.ts";
import { parseWith, quoteInput, refuseFault } from "../../core/base/schema.ts";
import { type ParseResult, quoteValue } from "../../core/base/text.ts";
import { isText, type JsonFields } from "../../schedule/json-fields.ts";
import { createFields, createText } from "./schema-parts.ts";
import { SECRET } from "./secret-schema.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const BODIES = ["task", "data", "none"] as const;
/** Headers that belong to the connection, or that signalbox sets. */
const OWN_HEADERS =
  /^(?:connection|content-length|expect|idempotency-key|te|trailer|transfer-encoding|upgrade|signalbox-.*)$/;
/** Most redirects that a request may follow. */
const MOST_REDIRECTS = 10;

/** A range of status codes, both ends included. */
export interface StatusRange {
  from: number;
  to: number;
}

const URL_TEXT = v.pipe(createText("is not a URL"), refuseFault(findUrlFault));

const HEADERS = v.pipe(
  v.custom<Readonly<Record<string, string>>>(isJsonObject, quoteInput("is not an object of headers")),
  refuseFault(findHeadersFault),
  v.transform((headers) => lowerNames(headers)),
);

const HEADER_SECRET = v.pipe(
  SECRET,
  v.check(
    ({ schedules }) => schedules === undefined,
    "schedules are for secrets of commands: the type of the handler says which schedules send it",
  ),
);
const SECRET_HEADERS = v.pipe(
  v.record(v.string(), HEADER_SECRET, quoteInput("is not an object of headers with paths")),
  refuseFault((headers) => findNameFault(Object.keys(headers))),
  v.transform((headers) => lowerNames(headers)),
);

const BODY = v.lazy((input) =>
  isJsonObject(input)
    ? createFields({ text: createText("is not a text") }, { missing: "it has no text" })
    : v.picklist(BODIES, quoteInput(`is not one of ${BODIES.join(", ")}, and not an object with a text`)),
);

const STATUS = v.pipe(
  v.union([v.number(), v.string()], quoteInput("is not a status")),
  parseWith(parseStatusRange),
);
const STATUSES = v.lazy((input) =>
  Array.isArray(input)
    ? v.pipe(v.array(STATUS), v.minLength(1, "it names no status"))
    : v.pipe(
        STATUS,
        v.transform((one) => [one]),
      ),
);

const FIELDS = createFields(
  {
    url: URL_TEXT,
    method: v.exactOptional(v.picklist(METHODS, quoteInput(`is not one of ${METHODS.join(", ")}`)), "POST"),
    headers: v.exactOptional(HEADERS, {}),
    /** Headers whose value is the content of a file, after a prefix. */
    secretHeaders: v.exactOptional(SECRET_HEADERS, {}),
    /** The authority that signed the server's certificate. Default: those of Node.js. */
    cacert: v.exactOptional(createText("is not a path")),
    /** The client's certificate and its key. */
    cert: v.exactOptional(createText("is not a path")),
    key: v.exactOptional(createText("is not a path")),
    /** Default: the task as JSON, and nothing for GET, HEAD and DELETE. */
    body: v.exactOptional(BODY),
    /** The statuses of success. Default: 200 to 299. */
    expect: v.exactOptional(STATUSES, "2xx"),
    /** How many redirects to follow. */
    redirects: v.exactOptional(
      v.pipe(
        v.number(quoteInput("is not a number")),
        v.check(
          (count) => Number.isInteger(count) && count >= 0 && count <= MOST_REDIRECTS,
          quoteInput(`is not a whole number from 0 to ${MOST_REDIRECTS}`),
        ),
      ),
      0,
    ),
  },
  { missing: "it has no url" },
);

/** A request to a web server: an object, or only its URL. */
export const HTTP = v.pipe(
  v.unknown(),
  v.transform((input) => (isText(input) ? { url: input } : (input as JsonFields))),
  FIELDS,
);
export type HttpSpec = v.InferOutput<typeof FIELDS>;

function findUrlFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text))
    return `${quoteValue(text)} is not a URL with http:// or https://`;
  if (url.username !== "" || url.password !== "")
    return "it contains a user or a password; put them into a file, and name it in secretHeaders";
  return undefined;
}

function findHeadersFault(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!isText(value) || !isHeaderValue(value))
      return `the value ${quoteValue(value)} of ${quoteValue(name)} is not a text for a header; put numbers in quotes`;
  }
  return findNameFault(Object.keys(headers));
}

function findNameFault(names: readonly string[]): string | undefined {
  const bad = names.find((name) => !isHeaderName(name));
  if (bad !== undefined) return `${quoteValue(bad)} is not the name of a header`;
  const own = names.find((name) => OWN_HEADERS.test(name.toLowerCase()));
  if (own !== undefined) return `${quoteValue(own)} is a header that signalbox sets`;
  return undefined;
}

function isHeaderName(name: string): boolean {
  return isPassed(() => validateHeaderName(name));
}

/** Returns whether a text can be the value of a header. */
export function isHeaderValue(text: string): boolean {
  return isPassed(() => validateHeaderValue("x", text));
}

function isPassed(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

function lowerNames<T>(headers: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Parses a status (204), a range (200-204), or a class (2xx). */
function parseStatusRange(input: number | string): ParseResult<StatusRange> {
  const text = String(input);
  const [, from = "", to = from] =
    /^([2-5]\d\d)(?:-([2-5]\d\d))?$/.exec(text.replace(/^([2-5])xx$/, "$100-$199")) ?? [];
  if (from === "" || Number(to) < Number(from))
    return { fault: `${quoteValue(input)} is not a status from 200 to 599, such as 204, 200-204 or 2xx` };
  return { value: { from: Number(from), to: Number(to) } };
}
