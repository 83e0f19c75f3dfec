import { ConfigError } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { readFileWithMode, readSecretLine } from "../../../config/files.ts";
import { type HttpSpec, isHeaderValue } from "../file/http-schema.ts";

/** Headers from files, and the texts that must not appear in output. */
export interface SecretHeaders {
  headers: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

/**
 * Reads the headers whose values are in files. Call it for every request: the files may change.
 * @throws ConfigError when a file is missing, not private, or not one line for a header
 */
export function readSecretHeaders(spec: HttpSpec["secretHeaders"]): SecretHeaders {
  const read = Object.entries(spec).map(([name, { file, prefix }]) => {
    const secret = readSecretLine(file, readFileWithMode, { named: "in secretHeaders", what: "the secret" });
    if (!isHeaderValue(prefix + secret))
      throw new ConfigError(`${clean(file)} has a character that a header cannot contain`);
    return { name, value: prefix + secret, secret };
  });
  return {
    headers: Object.fromEntries(read.map(({ name, value }) => [name, value])),
    secrets: read.flatMap(({ secret }) => [secret, ...listCredentials(secret)]),
  };
}

/** Returns the part after the scheme of a value such as `Bearer TOKEN`. */
function listCredentials(secret: string): string[] {
  const [, credentials] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(secret) ?? [];
  return credentials === undefined ? [] : [credentials];
}
